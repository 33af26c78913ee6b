"""Prepares the files of the SDK that the scripts require in a separate directory; the checkout is not modified."""

import os
import shutil
import zipfile

VERSIONS = ["1.2", "1.3", "1.4", "1.4.1", "1.4.2"]


class Checkout:
    def __init__(self, path: str, directory: str):
        self.path = path
        self.overlay = os.path.join(directory, "sdk")

    @property
    def scripts(self) -> str:
        return os.path.join(self.path, "src", "python_testing")

    @property
    def trust_store(self) -> str:
        return os.path.join(self.path, "credentials", "development", "paa-root-certs")

    @property
    def python_path(self) -> str:
        return os.pathsep.join([self.scripts, os.path.join(self.path, "scripts", "py_matter_idl"),
                                os.path.join(self.path, "scripts", "py_matter_yamltests")])

    def prepare(self):
        """Copies `chip.testing` with the archives of the data model, which the build of the SDK creates."""
        infrastructure = os.path.join(self.scripts, "matter_testing_infrastructure", "chip", "testing")
        testing = os.path.join(self.overlay, "chip", "testing")
        shutil.copytree(infrastructure, testing)
        for version in VERSIONS:
            source = os.path.join(self.path, "data_model", version)
            if not os.path.isdir(source):
                continue
            os.makedirs(os.path.join(testing, "data_model", version))
            with zipfile.ZipFile(os.path.join(testing, "data_model", version, "allfiles.zip"), "w") as archive:
                for folder, _, files in sorted(os.walk(source)):
                    for file in sorted(files):
                        if file.endswith((".xml", ".json")) or "." not in file:
                            whole = os.path.join(folder, file)
                            archive.write(whole, os.path.relpath(whole, source))
