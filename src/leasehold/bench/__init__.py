"""Benchmarks: what will a database do?

``place`` finds a server and makes databases that are gone afterwards, ``scratch`` is one of them, ``workers`` are real
processes, ``scenarios`` say what is measured, ``run`` measures them, ``report`` is what comes out. ``peers`` runs other
job systems beside ours, by a harness that is kept elsewhere.
"""
