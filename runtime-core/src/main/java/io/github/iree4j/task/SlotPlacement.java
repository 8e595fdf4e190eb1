package io.github.iree4j.task;

/** Puts processes into slots, where workers find them. Without a free slot, a process waits in a list for the next free slot. */
final class SlotPlacement {
    private final ProcessExecutor executor;
    private final ComputeSlots slots;
    private final ProcessList overflow;

    SlotPlacement(ProcessExecutor executor, ComputeSlots slots, ProcessList overflow) {
        this.executor = executor;
        this.slots = slots;
        this.overflow = overflow;
    }

    void place(TaskProcess process) {
        int slot = slots.reserve();
        if (slot >= 0) {
            fill(slot, process);
        } else {
            overflow.push(process);
            placeOverflow(); // a slot may have become free before the push was visible: TASK-13
        }
    }

    void emptySlot(int slot) {
        slots.empty(slot);
        placeOverflow(); // TASK-13
    }

    private void fill(int slot, TaskProcess process) {
        int budget = process.budgetOpaque();
        process.putInSlot(slot);
        slots.fillRelease(slot, process);
        executor.signals().getAndAddVolatile(1); // TASK-12
        executor.wakeWorkers(process, budget);
    }

    private void placeOverflow() {
        while (!overflow.isEmpty()) {
            int slot = slots.reserve();
            if (slot < 0) {
                return;
            }
            TaskProcess process = overflow.pop();
            if (process == null) {
                slots.empty(slot);
            } else {
                fill(slot, process);
            }
        }
    }
}
