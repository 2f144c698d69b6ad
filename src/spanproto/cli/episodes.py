"""`spanproto episodes`: few-shot episodes from any labelled corpus."""

from pathlib import Path
from typing import Annotated

import typer


def episodes(
    corpus: Annotated[Path, typer.Argument(help="Labelled sentences.")],
    out: Annotated[Path, typer.Argument(help="The episode file to write.")],
    ways: Annotated[int, typer.Option(help="Types in an episode (N).")],
    shots: Annotated[int, typer.Option(help="Support entities of each type: K up to 2K.")],
    count: Annotated[int, typer.Option(help="Number of episodes.", min=1)],
    query_shots: Annotated[
        int | None, typer.Option(help="Query entities of each type: Q up to 2Q.", show_default="K")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same file.")] = 0,
    format: Annotated[
        str | None, typer.Option(help="Format of the corpus.", show_default="from the file")
    ] = None,
    label_column: Annotated[
        int | None,
        typer.Option(help="Column of the labels, from 0 or -1.", show_default="from the file"),
    ] = None,
    scheme: Annotated[
        str | None, typer.Option(help="Tag scheme of the labels.", show_default="from the file")
    ] = None,
    to: Annotated[str, typer.Option(help="Format of the episodes.")] = "token-episodes",
    types: Annotated[
        str | None,
        typer.Option(
            help="Types to draw from: a split such as inter/test, a file of one type a line, or "
            "a list with commas.",
            show_default="all",
        ),
    ] = None,
    merge: Annotated[
        bool,
        typer.Option(
            "--merge", help="Let touching entities of one type become one where tags are IO."
        ),
    ] = False,
    skip_rare: Annotated[
        bool, typer.Option("--skip-rare", help="Leave out types with too few entities.")
    ] = False,
) -> None:
    """Draw N-way K~2K-shot episodes from a labelled corpus and write them to a file."""
    from tqdm import tqdm

    from spanproto.data.formats import read_sentences, write_episodes
    from spanproto.data.sampler import EpisodeSampler
    from spanproto.data.splits import read_types

    sampler = EpisodeSampler(
        read_sentences(corpus, format, label_column=label_column, scheme=scheme),
        ways,
        shots,
        query_shots,
        types=None if types is None else read_types(types),
        seed=seed,
        skip_rare=skip_rare,
    )
    progress = tqdm(sampler.take(count), total=count, unit=" episodes", disable=None)
    write_episodes(out, progress, to, merge=merge)
    typer.echo(
        f"{out}: {count} episodes, {ways}-way, {shots}~{2 * shots} support and "
        f"{sampler.query_shots}~{2 * sampler.query_shots} query entities of each type, "
        f"drawn from {len(sampler.types)} types with seed {seed}"
    )
