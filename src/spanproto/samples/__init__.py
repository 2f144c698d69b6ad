"""A small labelled sample that comes with the package: five domains of CrossNER (Liu et al. 2021).

Four domains are there to train on. The fifth is held out: none of its types occurs in the others,
so it shows what a model does with types it has never seen. `ATTRIBUTION.md` beside the files says
how the sentences were chosen and under which licence.
"""

from importlib import resources
from pathlib import Path

from spanproto.errors import DataError, nearest_name

TRAINING_DOMAINS = ("ai", "literature", "music", "science")
HELD_OUT_DOMAIN = "politics"


def sample_path(domain: str) -> Path:
    """The file of one domain, in the format `conll` with BIO tags."""
    domains = (*TRAINING_DOMAINS, HELD_OUT_DOMAIN)
    if domain not in domains:
        raise DataError(f"there is no sample {domain!r}; {nearest_name(domain, domains)}")
    return Path(str(resources.files(__name__) / f"{domain}.txt"))
