"""A check that the host never waits for the device, which needs no device."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class NoWaiting(TorchDispatchMode):
    """Fails on every operation whose result's value or shape the host would have to wait for."""

    WAITS = ("_local_scalar_dense", "nonzero", "masked_select", "_unique2", "is_nonzero", "equal")

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        assert name not in self.WAITS, f"{name} waits for the device"
        if name in {"index", "index_put", "index_put_"}:
            for index in args[1]:
                assert index is None or index.dtype != torch.bool, "a mask as index waits"
        return func(*args, **(kwargs or {}))
