"""Build of the C++ part: CMake makes the libraries and bindings of `allo/_mlir`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, find_namespace_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent.resolve()
SOURCE = HERE / "mlir" / "allo-dialect"


def require(condition: object, remedy: str) -> None:
    """End the build with one sentence that says what to install."""
    if not condition:
        sys.exit(f"allo: {remedy}")


require(sys.version_info >= (3, 12), f"Python 3.12 or newer is needed, this is {sys.version.split()[0]}.")


def replace_file(source: str, destination: str) -> None:
    """Copy at one instant: a process that has mapped the library of `destination` keeps the old one."""
    shutil.copy2(source, f"{destination}.new")
    os.replace(f"{destination}.new", destination)


class PackageTemplates(build_py):
    """`pip install .`: what is beside the package goes into it (allo/backend/headers.py, allo/target/loader.py)."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            package = Path(self.build_lib) / "allo"
            shutil.copytree(HERE / "lib" / "templates", package / "_templates", dirs_exist_ok=True)
            shutil.copytree(HERE / "targets", package / "_targets", dirs_exist_ok=True)


class CMakeBuild(build_ext):
    """Configure and build the dialect, and install its files as `allo/_mlir`."""

    def build_extension(self, ext: Extension) -> None:
        sys.path.insert(0, str(SOURCE / "cmake"))
        from locate import locate

        compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
        require(compiler, "no C++ compiler found; install g++ (Debian: apt-get install g++) or set CXX.")
        mlir_root, llvm_root = locate()
        build = self.build_directory(mlir_root)
        self.run_cmake("-S", SOURCE, "-B", build, "-G", "Ninja", *self.cmake_options(mlir_root, llvm_root))
        jobs = os.environ.get("MAX_JOBS") or str(len(os.sched_getaffinity(0)))
        self.run_cmake("--build", build, "-j", jobs)
        destination = Path(self.get_ext_fullpath(ext.name)).parent.resolve()
        self.run_cmake("--install", build, "--prefix", destination, "--component", "python", "--strip")

    def run_cmake(self, *arguments: str | Path) -> None:
        """cmake, the one of the build requirements if it is there."""
        # An environment that is not activated has cmake and ninja beside its Python.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        cmake = shutil.which("cmake", path=path)
        require(cmake, "cmake is missing; install it (pip install cmake ninja).")
        from progress import run_with_progress

        if run_with_progress([str(cmake), *map(str, arguments)], {**os.environ, "PATH": path}):
            sys.exit(f"allo: the build of the C++ part failed; the command was: cmake {' '.join(map(str, arguments))}")

    def build_directory(self, mlir_root: Path) -> Path:
        """Kept for incremental builds, unless it belongs to other wheels (such as pip's deleted overlay)."""
        name = f"allo-{sys.implementation.cache_tag}" + ("" if self.is_developer() else "-isolated")
        build = Path(os.environ.get("ALLO_BUILD_DIR") or HERE / "build" / name)
        cache = build / "CMakeCache.txt"
        if cache.exists() and f"ALLO_MLIR_ROOT:PATH={mlir_root}\n" not in cache.read_text():
            shutil.rmtree(build)
        return build.resolve()

    def is_developer(self) -> bool:
        """An editable install, whose C++ part will be built again and again."""
        return bool(self.editable_mode or os.environ.get("ALLO_DEVELOPER"))

    def cmake_options(self, mlir_root: Path, llvm_root: Path) -> list[str]:
        """Users get few translation units (less CPU time), developers many (incremental)."""
        pybind11 = subprocess.check_output([sys.executable, "-m", "pybind11", "--cmakedir"], text=True).strip()
        return [
            "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_UNITY_BUILD={'OFF' if self.is_developer() else 'ON'}",
            f"-DALLO_PCH={'ON' if self.is_developer() else 'OFF'}",
            f"-DALLO_MLIR_ROOT={mlir_root}",
            f"-DALLO_LLVM_ROOT={llvm_root}",
            f"-DPython_EXECUTABLE={sys.executable}",
            f"-Dpybind11_DIR={pybind11}",
            *os.environ.get("ALLO_CMAKE_ARGS", "").split(),
        ]

    def copy_extensions_to_source(self) -> None:
        """`pip install -e`: setuptools would copy the extension only."""
        built, installed = Path(self.build_lib) / "allo" / "_mlir", HERE / "allo" / "_mlir"
        shutil.copytree(built, installed, dirs_exist_ok=True, copy_function=replace_file)


setup(
    package_dir={"": "."},  # so that an editable install is a plain path
    packages=find_namespace_packages(
        include=["allo", "allo.*", "polybench"], exclude=["*.__pycache__"]
    ),  # `polybench/c` has no Python: package-data
    ext_modules=[Extension("allo._mlir._allo_mlir", sources=[])],
    cmdclass={"build_ext": CMakeBuild, "build_py": PackageTemplates},
)
