"""How accurate ``ODEFS()`` is, and what each of its parts adds: the jobs, the measures and the
sections of ``docs/explanation/accuracy.md``.
"""
