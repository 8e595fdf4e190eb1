package io.github.iree4j.hal.local;

import io.github.iree4j.hal.HostWork;
import io.github.iree4j.hal.QueueOperation;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * An operation that the host executes. Buffers it names are pinned while it runs; what it uses is retained when it has to wait, so that
 * it lives until then.
 */
abstract class HostOperation extends QueueOperation implements HostWork {
    HostOperation(String name) {
        super(name);
    }

    /**
     * Does the work.
     *
     * @throws IreeException the failure that the operation's signals get
     */
    abstract void run();

    /** Does the work; whatever it throws becomes a failure with a status. */
    @Override
    public final @Nullable IreeException execute() {
        try {
            run();
            return null;
        } catch (IreeException e) {
            return e;
        } catch (OutOfMemoryError e) {
            return new IreeException(
                    StatusCode.RESOURCE_EXHAUSTED, name() + " ran out of Java memory: " + e.getMessage(), e);
        } catch (RuntimeException | Error e) {
            return new IreeException(StatusCode.INTERNAL, name() + " failed: " + e, e);
        }
    }
}
