"""Windows API calls: whether a process runs, the machine id, free memory.

Used on Windows only. ``os.kill(pid, 0)``, the check of other systems, would end the process there.
"""

import ctypes
from typing import Any

QUERY_LIMITED_INFORMATION, SYNCHRONIZE = 0x1000, 0x100000
INVALID_PARAMETER = 87
"""Error code for a process id that does not exist."""
STILL_WAITING = 0x102


class _MemoryStatus(ctypes.Structure):
    """Mirror of the C struct ``MEMORYSTATUSEX``."""

    _fields_ = (
        ("dwLength", ctypes.c_uint32),
        ("dwMemoryLoad", ctypes.c_uint32),
        ("ullTotalPhys", ctypes.c_uint64),
        ("ullAvailPhys", ctypes.c_uint64),
        ("ullTotalPageFile", ctypes.c_uint64),
        ("ullAvailPageFile", ctypes.c_uint64),
        ("ullTotalVirtual", ctypes.c_uint64),
        ("ullAvailVirtual", ctypes.c_uint64),
        ("ullAvailExtendedVirtual", ctypes.c_uint64),
    )


def is_running(process: int) -> bool:
    """Return whether a process has not ended; one that this user may not query counts as
    running.
    """
    kernel = _kernel()
    handle = kernel.OpenProcess(QUERY_LIMITED_INFORMATION | SYNCHRONIZE, False, process)
    if not handle:
        # Other errors, such as a missing right, concern a process that exists.
        return bool(_last_error() != INVALID_PARAMETER)
    try:
        return bool(kernel.WaitForSingleObject(ctypes.c_void_p(handle), 0) == STILL_WAITING)
    finally:
        kernel.CloseHandle(ctypes.c_void_p(handle))


def machine_id() -> bytes:
    """Return the id that the Windows installation assigned to the machine."""
    import winreg

    registry: Any = winreg
    key = r"SOFTWARE\Microsoft\Cryptography"
    with registry.OpenKey(
        registry.HKEY_LOCAL_MACHINE, key, 0, registry.KEY_READ | registry.KEY_WOW64_64KEY
    ) as opened:
        return str(registry.QueryValueEx(opened, "MachineGuid")[0]).encode()


def available_memory() -> int | None:
    """Return the bytes of free physical memory."""
    status = _MemoryStatus(dwLength=ctypes.sizeof(_MemoryStatus))
    return (
        int(status.ullAvailPhys) if _kernel().GlobalMemoryStatusEx(ctypes.byref(status)) else None
    )


def _kernel() -> Any:
    library: Any = ctypes
    kernel = library.WinDLL("kernel32", use_last_error=True)
    # The default is a 32-bit int, which would cut handles.
    kernel.OpenProcess.restype = ctypes.c_void_p
    return kernel


def _last_error() -> int:
    library: Any = ctypes
    return int(library.get_last_error())
