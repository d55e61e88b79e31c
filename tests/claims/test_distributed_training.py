"""The claims of the page on distributed training."""

import os
import socket
from pathlib import Path

import pytest
import torch
from torch.nn.parallel import DistributedDataParallel

from batching import example_of
from helpers import numbers
from marks import claim, mutation
from small_training import PAIRS, SHORT, fork, small_translator, train
from trainer import (
    SINGLE_PROCESS,
    DistributedContext,
    Trainer,
    distributed_context,
    forward_backward,
)

CHAPTER = "distributed-training"


# More than one process


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def in_two_processes(task, folder: Path) -> list:
    """The result of a task in each of two processes, connected as by torchrun."""
    port = free_port()

    def work(rank: int) -> None:
        os.environ |= {
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": "2",
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
            "GLOO_SOCKET_IFNAME": "lo",
        }
        torch.set_num_threads(1)
        with distributed_context() as group:
            torch.save(task(group), folder / f"{rank}.pt")

    children = [fork.Process(target=work, args=(rank,)) for rank in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
        child.kill()
    return [torch.load(folder / f"{rank}.pt") for rank in range(2)]


UNEVEN = [pair for n in range(7, 19) for pair in (PAIRS[n % 10], PAIRS[100 + n])]


def loss_and_gradients(group: DistributedContext):
    translator = small_translator(dropout=0.0)
    examples = [example_of(translator, pair) for pair in UNEVEN]
    model = DistributedDataParallel(translator.model) if group.world_size > 1 else translator.model
    loss, _ = forward_backward(model, examples, SHORT, group)
    return loss, [p.grad for p in translator.model.parameters()]


@claim("distributed-training#tested")
@mutation(
    "trainer.py",
    "        dist.all_reduce(sums)",
    "        pass",
    fault="each process reports the loss of its own sentences",
)
def test_the_loss_and_gradients_of_two_processes_equal_those_of_one(tmp_path):
    expected, gradients = loss_and_gradients(SINGLE_PROCESS)
    for loss, found in in_two_processes(loss_and_gradients, tmp_path):
        assert loss == pytest.approx(expected, abs=1e-6)
        for a, b in zip(found, gradients, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


@claim("distributed-training#tested")
@mutation(
    "trainer.py",
    "return total_loss / total_tokens, stops > 0",
    "return total_loss / total_tokens, stop",
    fault="a stopped process does not stop the others",
)
def test_stopping_one_process_stops_both(tmp_path):
    def stops(group: DistributedContext):
        translator = small_translator()
        examples = [example_of(translator, pair) for pair in UNEVEN]
        model = DistributedDataParallel(translator.model)
        return [
            forward_backward(model, examples, SHORT, group, group.rank == 1 and i == 1)[1]
            for i in range(2)
        ]

    assert in_two_processes(stops, tmp_path) == [[False, True]] * 2


@claim("distributed-training#processes")
@mutation(
    "trainer.py",
    "            model = DistributedDataParallel(model)",
    "            pass",
    fault="the gradients of the processes are not averaged",
)
def test_two_processes_train_to_the_same_loss_as_one(tmp_path):
    def losses(group: DistributedContext):
        translator = small_translator(dropout=0.0)
        curve = train(translator, PAIRS, PAIRS[:9], SHORT, group)
        return [point["loss"] for point in curve]

    first, second = in_two_processes(losses, tmp_path)
    assert first == second == pytest.approx(losses(SINGLE_PROCESS), abs=1e-4)


@claim("distributed-training#tested")
def test_a_batch_smaller_than_the_number_of_processes_is_rejected():
    with pytest.raises(ValueError, match="9 processes cannot share a batch_size of 8"):
        Trainer(small_translator(), PAIRS, [], SHORT, DistributedContext(0, 9))


@claim("distributed-training#mean-of-means")
def test_the_mean_of_the_means_is_wrong_and_weighting_by_tokens_corrects_it(printed):
    shown = printed("examples", "mean_of_means")
    assert numbers(shown["uneven, mean of the means, loss off by"])[0] > 0.01
    assert numbers(shown["uneven, mean of the means, gradient off by"])[0] > 10
    assert numbers(shown["similar lengths, mean of the means, gradient off by"])[0] < 0.5
    for name in "uneven", "similar lengths":
        assert numbers(shown[f"{name}, by tokens, loss off by"])[0] < 1e-6
        assert numbers(shown[f"{name}, by tokens, gradient off by"])[0] == 0
