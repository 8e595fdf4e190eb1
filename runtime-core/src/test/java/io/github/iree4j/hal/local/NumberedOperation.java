package io.github.iree4j.hal.local;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.record.Recording;
import org.jspecify.annotations.Nullable;

/** An operation identified by a number. */
final class NumberedOperation extends CommandOperation {
    private static final CallerRunners NO_CALLERS = new CallerRunners(0, 1);

    final int number;

    NumberedOperation(int number) {
        super("numbered", NO_CALLERS);
        this.number = number;
    }

    /** The number of an operation; "none" for null. */
    static String numberOf(@Nullable HostOperation operation) {
        return operation instanceof NumberedOperation numbered ? Integer.toString(numbered.number) : "none";
    }

    @Override
    Recording recording() {
        throw new UnsupportedOperationException();
    }

    @Override
    @Nullable
    BindingTable bindings() {
        return null;
    }

    @Override
    protected void retain() {}

    @Override
    protected void release() {}
}
