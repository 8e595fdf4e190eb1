package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.pool.MemoryHolder;
import org.jspecify.annotations.Nullable;

/** A driver's form of a recording, with the bindings that it was made with: lent to one execution at a time. */
final class BoundForm implements AutoCloseable {
    private final Lane lane;
    private final ResolvedBindings bindings;
    private final CommandForm form;
    private boolean resolved; // and not prepared: the form does not agree with the bindings

    BoundForm(Lane lane, ResolvedBindings bindings, CommandForm form) {
        this.lane = lane;
        this.bindings = bindings;
        this.form = form;
    }

    /** Whether its commands can be submitted to a lane. */
    boolean suits(Lane other) {
        return lane.family() == other.family();
    }

    CommandForm form() {
        return form;
    }

    /**
     * Gives the call of an execution copies of the constants into which its dispatches may write; when it is submitted. {@link #over}
     * follows in any case.
     *
     * @param call whose it is; null for none
     * @param table what is in the slots; null for nothing
     * @throws io.github.iree4j.status.IreeException RESOURCE_EXHAUSTED without memory for a copy
     */
    void claim(@Nullable MemoryHolder call, @Nullable BindingTable table) {
        bindings.claim(call, table);
    }

    /**
     * Finds and keeps what an execution uses, when it gets its place in the order of its queue. {@link #prepare} follows, or
     * {@link #over}.
     *
     * @param user the execution
     * @param table what is in the slots; null for nothing
     * @throws io.github.iree4j.status.IreeException when a buffer has no storage
     */
    void resolve(StreamOperation user, @Nullable BindingTable table) {
        resolved = true;
        bindings.resolve(user, table);
    }

    /** Makes the commands agree with what was resolved. */
    DriverCommands prepare(String operation) {
        DriverCommands commands = form.prepare(operation);
        resolved = false;
        return commands;
    }

    /** The hardware is done with the commands, or never got them. */
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
