"""What a document becomes for people."""

from leasehold_bench.report import Results, medians, ratios, table

RESULTS: Results = {
    "C drain/s x1": {"pgqueuer": [10_000, 12_000, 11_000], "leasehold": [22_000, 20_000, 24_000]},
    "E p50 ms": {"pgqueuer": [4.0], "leasehold": [2.0]},
    "G windows of 20k": {"pgqueuer": [[9, 8]], "leasehold": [[70_000, 71_000]]},
    "F load s": {"pgqueuer": [20], "leasehold": [10]},
}


def test_a_median_is_taken_of_figures_and_not_of_series() -> None:
    assert medians(RESULTS)["C drain/s x1"] == {"pgqueuer": 11_000, "leasehold": 22_000}
    assert "G windows of 20k" not in medians(RESULTS)


def test_a_ratio_is_ours_divided_by_theirs_for_rates_and_times() -> None:
    assert ratios(medians(RESULTS)) == {"C drain/s x1": {"pgqueuer": 2.0}, "E p50 ms": {"pgqueuer": 0.5}}


def test_there_is_no_ratio_where_one_side_is_missing() -> None:
    assert ratios(medians({"B bulk/s": {"pgqueuer": [1]}})) == {}
    assert table({"results": {"B bulk/s": {"pgqueuer": [1]}}})[1] == [["B bulk/s", "-", "1"]]


def test_a_row_has_the_median_the_range_and_the_ratio() -> None:
    columns, rows = table({"results": RESULTS, "failed": ["H arq: no such command"]})
    assert columns == ["measure", "leasehold", "pgqueuer (ratio)"]
    assert rows[0] == ["C drain/s x1", "22,000 (20,000–24,000)", "11,000 (10,000–12,000) (2×)"]
    assert ["G windows of 20k", "70,000 71,000", "9 8"] in rows
    assert rows[-1] == ["failed", "H arq: no such command"]


def test_what_is_void_is_said() -> None:
    void = {"scenario": "C", "repetition": "1", "why": "there are 9 outcomes"}
    assert table({"results": {}, "void": [void]})[1] == [["C void", "there are 9 outcomes"]]
