# SPDX-License-Identifier: MIT
"""What the package says of the project's address; pyproject.toml has everything else."""

import re
from pathlib import Path

from setuptools import setup

REPOSITORY = ""
"""The project's address, such as https://example.org/frobench; the only place that has it."""

readme = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
links = {}
if REPOSITORY:
    links = {
        "Source": REPOSITORY,
        "Documentation": f"{REPOSITORY}/tree/main/docs",
        "Changelog": f"{REPOSITORY}/blob/main/CHANGELOG.md",
        "Issues": f"{REPOSITORY}/issues",
    }
    readme = re.sub(r"(!\[[^]]*\]\()(?!https?:)", rf"\1{REPOSITORY}/raw/main/", readme)
    readme = re.sub(r"(\]\()(?!https?:|#)", rf"\1{REPOSITORY}/blob/main/", readme)

setup(project_urls=links, long_description=readme, long_description_content_type="text/markdown")
