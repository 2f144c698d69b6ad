"""Copies that end their fine-tuning each at its own time."""

import torch
from torch import nn

from spanproto.methods.parts.first_rise import FirstRise


def test_every_copy_keeps_what_it_was_when_its_loss_had_risen() -> None:
    model = nn.Module()
    model.weight = nn.Parameter(torch.zeros(3, 2))
    model.shared = nn.Parameter(torch.zeros(5), requires_grad=False)
    end = FirstRise(3)
    going_on = []
    for step, losses in enumerate(([3.0, 3, 3], [4, 3, 2], [1, 2, 2.5], [9, 2, 1]), start=1):
        model.weight.data.fill_(step)
        going_on.append(end.goes_on(model, torch.tensor(losses)))
    assert going_on == [True] * 4  # the second has not risen
    end.restore(model)
    assert model.weight.tolist() == [[2, 2], [4, 4], [3, 3]]
    assert not end.goes_on(model, torch.tensor([0, 2.5, 0]))
