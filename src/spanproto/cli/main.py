"""The `spanproto` command. Bad input ends with one sentence on standard error and exit code 2."""

import sys
from collections.abc import Callable

import typer

from spanproto.cli.average import average
from spanproto.cli.convert import convert
from spanproto.cli.data_check import check
from spanproto.cli.data_doubts import doubts
from spanproto.cli.demo import demo
from spanproto.cli.episodes import episodes
from spanproto.cli.evaluate import evaluate
from spanproto.cli.explain import explain
from spanproto.cli.fit import fit
from spanproto.cli.methods import methods
from spanproto.cli.paper import paper
from spanproto.cli.plot import plot
from spanproto.cli.predict import predict
from spanproto.cli.score import score
from spanproto.cli.train import train
from spanproto.cli.tune import tune
from spanproto.errors import SpanProtoError

app = typer.Typer(
    name="spanproto",
    help="Few-shot named entity recognition.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
data_app = typer.Typer(
    help="Look at data files, and for what they leave out.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command()(fit)
app.command()(predict)
app.command()(explain)
app.command()(plot)
app.command()(score)
app.command()(tune)
app.add_typer(data_app, name="data")
app.command()(convert)
data_app.command()(check)
data_app.command()(doubts)
app.command()(episodes)
app.command()(train)
app.command()(average)
app.command()(evaluate)
app.command()(methods)
app.command()(paper)
app.command()(demo)


@app.callback()
def _root() -> None:
    """Few-shot named entity recognition."""


def main() -> None:
    """Run the command line."""
    in_one_sentence(app)


def in_one_sentence(run: Callable[[], None]) -> None:
    """Run a command; what is wrong with its input is said in one sentence."""
    try:
        run()
    except SpanProtoError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
