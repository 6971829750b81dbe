"""The tool that moves files: what named an old place names the new one, and the code still runs."""

import subprocess
import sys
from pathlib import Path

from tools.move import rewrite_imports

ROOT = Path(__file__).parents[2]
FILES = {
    "src/shop/__init__.py": "",
    "src/shop/api/__init__.py": "PORT = 80\n",
    "src/shop/api/answers.py": "def answer() -> int:\n    return 42\n",
    "src/shop/api/keys.py": "NAME = 'key'\n",
    "src/shop/main.py": (
        "from shop.api import PORT, answers, keys\n"
        "from shop.api.answers import answer as ask\n"
        "ENTRY = 'shop.api.answers:answer'\n"
        "ROW = 'select from shop.api where key'\n"
        "print(PORT, answers.answer(), keys.NAME, ask(), ENTRY)\n"
    ),
    "docs/walk.md": "See [answers](../src/shop/api/answers.py#L1) and `shop.api.keys`.\n",
}
MOVES = """
# a comment
src/shop/api/__init__.py\tsrc/shop/http/app.py
src/shop/api/answers.py\tsrc/shop/http/responses.py
src/shop/api/keys.py\tsrc/shop/features/api_keys/store.py
"""


def test_files_move_and_everything_that_names_them_follows(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "moves.tsv").write_text(MOVES)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    command = [sys.executable, "-m", "tools.move", "moves.tsv"]
    done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == ""  # nothing names an old place
    main = (tmp_path / "src/shop/main.py").read_text()
    assert "from shop.http import responses\n" in main
    assert "from shop.features.api_keys import store as keys\n" in main
    assert "select from shop.api where key" in main  # a table of that name is no module
    assert (tmp_path / "docs/walk.md").read_text() == (
        "See [answers](../src/shop/http/responses.py#L1) and `shop.features.api_keys.store`.\n"
    )
    assert (tmp_path / "src/shop/features/__init__.py").exists()
    command = [sys.executable, "main.py"]
    ran = subprocess.run(
        command, cwd=tmp_path / "src/shop", env={"PYTHONPATH": str(tmp_path / "src")}, capture_output=True, text=True
    )
    assert ran.stdout == "80 42 key 42 shop.http.responses:answer\n", ran.stderr


def test_a_name_that_is_taken_in_a_file_is_not_given_twice() -> None:
    text = "from shop.api import answers\nresponses = answers.all()\n"
    modules = {"shop.api.answers": "shop.http.responses"}
    assert rewrite_imports(text, modules) == ("from shop.http import responses as answers\nresponses = answers.all()\n")


def test_a_field_and_an_argument_of_a_modules_name_keep_theirs() -> None:
    modules = {"shop.payload": "shop.codec"}
    text = "from shop import payload\nclass Job:\n    payload: str\nprint(payload.read(), Job)\n"
    assert rewrite_imports(text, modules) == text.replace("import payload", "import codec").replace(
        "payload.read", "codec.read"
    )
    text = "from shop import payload\ndef f(payload): return payload\nprint(payload.read())\n"
    assert rewrite_imports(text, modules) == text.replace("payload\n", "codec as payload\n", 1)


def test_a_module_that_stays_in_a_package_whose_own_file_moves_is_imported_from_there() -> None:
    modules = {"shop.pages": "shop.pages.app"}
    text = "from shop.pages import assets, mount\n"
    assert rewrite_imports(text, modules, {"shop.pages.assets"}) == (
        "from shop.pages import assets\nfrom shop.pages.app import mount\n"
    )
