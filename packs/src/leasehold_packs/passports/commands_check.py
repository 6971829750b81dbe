"""``leasehold passports verify`` and ``consistent``: checks that need no network and no database."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leasehold import shell

if TYPE_CHECKING:
    from leasehold_packs.passports.verify import Verdict

File = Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)]


@shell.command
async def verify(
    file: File,
    keys: Annotated[Path | None, typer.Option(help="The issuer's did.json, from the issuer itself.")] = None,
    json: shell.Json = False,
) -> None:
    """Check a bundle, or a file of an export, without a network or a database. Exit 1 if anything was changed."""
    from leasehold_packs.passports.bundle_archive import bundles_in, is_archive
    from leasehold_packs.passports.bundle_zip import unzipped
    from leasehold_packs.passports.documents import read_json
    from leasehold_packs.passports.keys import keys_of
    from leasehold_packs.passports.verify import verify as checked

    raw = file.read_bytes()
    given = keys_of(read_json(keys.read_bytes())) if keys else None
    all_good = True
    for folder, made, enclosed in bundles_in(raw) if is_archive(raw) else [("", *unzipped(raw))]:
        verdict = checked(made, enclosed if given is None else given)
        _print_verdict(verdict, made.receipt, json=json, folder=folder)
        all_good = all_good and verdict.ok
    if not all_good:
        raise typer.Exit(1)
    if keys is None:
        shell.say("the keys came with the file: --keys did.json checks it with those of the issuer")


@shell.command
async def consistent(
    file: File,
    keys: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="The issuer's did.json, from the issuer.")],
) -> None:
    """Check that a log begins with all of an older one, from …/log/consistency?first=. Exit 1 if it does not."""
    from leasehold_packs.passports.documents import read_json
    from leasehold_packs.passports.keys import keys_of
    from leasehold_packs.passports.verify import consistency_findings

    shown = read_json(file.read_bytes())
    findings = consistency_findings(shown, keys_of(read_json(keys.read_bytes())))
    for each in findings:
        print(f"{each.code}\t{each.at}\t{each.message}")
    if findings:
        raise typer.Exit(1)
    print(f"good: the log of {shown['second']['size']} begins with all of that of {shown['first']['size']}")


def _print_verdict(verdict: "Verdict", receipt: bytes, *, json: bool, folder: str) -> None:
    from leasehold_packs.passports.documents import read_json

    shown = sorted(verdict.shown)
    findings = [{"at": each.at, "code": each.code, "message": each.message} for each in verdict.findings]
    if json:
        where = {"folder": folder} if folder else {}
        shell.print_json({**where, "ok": verdict.ok, "shown": shown, "findings": findings})
    elif verdict.ok:
        signed = read_json(receipt)
        about = f"{signed['issuer']} signed it, issued {signed['issued_at']}, shows {', '.join(shown)}"
        print(f"good: {about}{f' ({folder})' if folder else ''}")
    else:
        for each in findings:
            print("\t".join(text for text in (each["code"], each["at"], each["message"], folder) if text))
