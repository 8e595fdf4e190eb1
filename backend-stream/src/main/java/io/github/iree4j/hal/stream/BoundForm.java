package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.pool.MemoryHolder;
import org.jspecify.annotations.Nullable;

/** A driver's form of a recording, with the form's bindings: lent to a single execution at a time. */
final class BoundForm implements AutoCloseable {
    private final Lane lane;
    private final ResolvedBindings bindings;
    private final CommandForm form;
    private boolean resolved; // resolved but not prepared: the form does not match its bindings

    BoundForm(Lane lane, ResolvedBindings bindings, CommandForm form) {
        this.lane = lane;
        this.bindings = bindings;
        this.form = form;
    }

    /** Returns whether the form's commands can be submitted to a lane. */
    boolean suits(Lane other) {
        return lane.family() == other.family();
    }

    CommandForm form() {
        return form;
    }

    /**
     * Claims copies, for the call of an execution, of constants writable by the commands; called at submission.
     * {@link #over} follows in any case.
     *
     * @param call the call of the execution; null for none
     * @param table the contents of the slots; null for none
     * @throws io.github.iree4j.status.IreeException RESOURCE_EXHAUSTED without memory for a copy
     */
    void claim(@Nullable MemoryHolder call, @Nullable BindingTable table) {
        bindings.claim(call, table);
    }

    /**
     * Finds and pins the buffers of an execution, when the execution gets a place in the order of the queue.
     * {@link #prepare} or {@link #over} follows.
     *
     * @param user the execution
     * @param table the contents of the slots; null for none
     * @throws io.github.iree4j.status.IreeException when a buffer has no storage
     */
    void resolve(StreamOperation user, @Nullable BindingTable table) {
        resolved = true;
        bindings.resolve(user, table);
    }

    /** Makes the commands match the resolved bindings. */
    DriverCommands prepare(String operation) {
        DriverCommands commands = form.prepare(operation);
        resolved = false;
        return commands;
    }

    /** Ends the execution: the hardware has completed the commands, or never received the commands. */
    void over() {
        bindings.unpin();
        if (resolved) {
            resolved = false;
            form.invalidate();
            bindings.forget();
        }
    }

    @Override
    public void close() {
        form.close();
    }
}
