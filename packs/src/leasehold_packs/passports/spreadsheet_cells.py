"""The names that spreadsheets give their cells."""


def cell_name(line: int, place: int, *, sheet: str = "") -> str:
    """A1 for the first cell of the first line, AA1 for the 27th; Sheet1!A1 where there are several sheets."""
    letters = ""
    place += 1
    while place:
        place, letter = divmod(place - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return f"{sheet}!{letters}{line}" if sheet else f"{letters}{line}"
