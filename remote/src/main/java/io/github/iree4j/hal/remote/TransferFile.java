package io.github.iree4j.hal.remote;

import io.github.iree4j.async.io.Completion;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A transfer as the file of a queue operation: a read takes bytes from the peer, a write sends bytes to the peer. So
 * any device takes part, in the order of its queue, and the bytes go directly between device memory and frames. Read or
 * written once, from the start to the end, in pieces.
 */
final class TransferFile extends AsynchronousFile {
    private final Transfers transfers;
    private final long number;

    TransferFile(Transfers transfers, long number, long length, boolean incoming) {
        super(
                "transfer %d of %d bytes".formatted(number, length),
                incoming ? MemoryAccess.READ : MemoryAccess.WRITE,
                length);
        this.transfers = transfers;
        this.number = number;
    }

    @Override
    protected void doStartRead(
            long offset, MemorySegment target, Supplier<@Nullable IreeException> stop, Completion completion) {
        long bytes = target.byteSize();
        transfers.receive(
                number, offset, target, true, stop, failure -> completion.ended(failure == null ? bytes : 0, failure));
    }

    @Override
    protected void doStartWrite(
            long offset, MemorySegment source, Supplier<@Nullable IreeException> stop, Completion completion) {
        long bytes = source.byteSize();
        transfers.send(
                number, offset, source, bytes, stop, failure -> completion.ended(failure == null ? bytes : 0, failure));
    }
}
