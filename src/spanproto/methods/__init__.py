"""Few-shot NER systems on one contract: the table of them all.

A method is one file beside this one, with a class on the contract of `base.py`, and one line here.
The table can be read without importing any of them, which would import torch.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from spanproto.errors import ConfigError, nearest_name

if TYPE_CHECKING:
    from spanproto.methods.base import Method


class MethodEntry(NamedTuple):
    """What the table says of a method."""

    place: str  # module:class
    title: str  # the name that papers use
    citation: str
    idea: str  # in one line


METHODS: Mapping[str, MethodEntry] = {
    "spanproto": MethodEntry(
        "spanproto.model:SpanProto",
        "SpanProto",
        "Wang et al., EMNLP 2022",
        "finds spans by a boundary matrix, then gives each the type of its nearest prototype",
    ),
    "protobert": MethodEntry(
        "spanproto.methods.protobert:ProtoBert",
        "ProtoBERT",
        "Snell et al., NeurIPS 2017; Ding et al., ACL 2021",
        "gives each word the type whose support words have the nearest mean, O being one more type",
    ),
    "nnshot": MethodEntry(
        "spanproto.methods.nnshot:NNShot",
        "NNShot",
        "Yang and Katiyar, EMNLP 2020",
        "gives each word the type of the nearest support word; trained as ProtoBERT",
    ),
    "structshot": MethodEntry(
        "spanproto.methods.structshot:StructShot",
        "StructShot",
        "Yang and Katiyar, EMNLP 2020",
        "NNShot with the best sequence of tags under transitions counted on the training data",
    ),
    "container": MethodEntry(
        "spanproto.methods.container:Container",
        "CONTaiNER",
        "Das et al., ACL 2022",
        "learns Gaussian word embeddings by contrast, on support sets too; then as StructShot",
    ),
    "matching-network": MethodEntry(
        "spanproto.methods.matching_network:MatchingNetwork",
        "Matching Network",
        "Vinyals et al., NeurIPS 2016; Hou et al., ACL 2020",
        "gives each word the BIO tag whose support words have the largest mean dot product with it",
    ),
    "l-tapnet-cdt": MethodEntry(
        "spanproto.methods.l_tapnet_cdt:LTapNetCdt",
        "L-TapNet+CDT",
        "Hou et al., ACL 2020",
        "a CRF over tags that are compared by name and prototype, in a space made to fit both",
    ),
    "esd": MethodEntry(
        "spanproto.methods.esd:Esd",
        "ESD",
        "Wang et al., NAACL 2022",
        "classifies all short spans by prototypes that attend to the query span; beam soft-NMS",
    ),
    "decommeta": MethodEntry(
        "spanproto.methods.decommeta:DecomMeta",
        "DecomMeta",
        "Ma et al., Findings of ACL 2022",
        "a tagger finds spans and prototypes type them, both meta-learned to be fine-tuned",
    ),
    "token-classifier": MethodEntry(
        "spanproto.methods.token_classifier:TokenClassifier",
        "token classifier",
        "Devlin et al., NAACL 2019",
        "a linear layer over word tags on the encoder, fine-tuned on the support set alone",
    ),
}
"""Every method by the name that the command line and configurations use."""


def method_named(name: str) -> "type[Method]":
    """The class of the method of that name; only then is its file imported."""
    if name not in METHODS:
        raise ConfigError(f"there is no method {name!r}; {nearest_name(name, METHODS)}")
    module, _, class_name = METHODS[name].place.partition(":")
    method: type[Method] = getattr(import_module(module), class_name)
    return method
