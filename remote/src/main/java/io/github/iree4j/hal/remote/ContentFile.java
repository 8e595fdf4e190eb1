package io.github.iree4j.hal.remote;

import io.github.iree4j.async.io.Completion;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Constants of a client as the file of a queue operation: read from the content kept by this node, or requested by
 * transfer, checked against the digest, and kept. Read once, from the start to the end, in pieces.
 */
final class ContentFile extends AsynchronousFile {
    private static final long ALIGNMENT = 64;

    private final Transfers transfers;
    private final ContentCache cache;
    private final long number;
    private final byte[] digest;
    // kept content, once the first piece was read; guarded by this, like the rest
    private @Nullable MemorySegment known;
    private @Nullable MemorySegment arriving; // content received so far, until complete

    ContentFile(RemoteSession session, long number, long length, byte[] digest) {
        super("content %d of %d bytes".formatted(number, length), MemoryAccess.READ, length);
        this.transfers = session.transfers();
        this.cache = session.node().content();
        this.number = number;
        this.digest = digest;
    }

    /** Returns the kept content, searched when the first piece is read; null when the content has to arrive. */
    private synchronized @Nullable MemorySegment begin(long offset) {
        if (offset == 0) {
            MemorySegment found = cache.find(digest);
            known = found == null || found.byteSize() != length() ? null : found;
            arriving = known == null && length() <= cache.limit()
                    ? Arena.ofAuto().allocate(Math.max(1, length()), ALIGNMENT).asSlice(0, length())
                    : null;
        }
        return known;
    }

    @Override
    protected void doStartRead(
            long offset, MemorySegment target, Supplier<@Nullable IreeException> stop, Completion completion) {
        long bytes = target.byteSize();
        MemorySegment there = begin(offset);
        if (there != null) {
            MemorySegment.copy(there, offset, target, 0, bytes);
            completion.ended(bytes, null);
            return;
        }
        transfers.receive(number, offset, target, true, stop, failure -> {
            IreeException cause = failure == null ? arrived(offset, target) : failure;
            completion.ended(cause == null ? bytes : 0, cause);
        });
    }

    /** Keeps an arrived piece; after the last piece, returns a failure when the content differs from the announced content. */
    private synchronized @Nullable IreeException arrived(long offset, MemorySegment piece) {
        MemorySegment all = arriving;
        if (all == null) {
            return null; // too large to be kept
        }
        MemorySegment.copy(piece, 0, all, offset, piece.byteSize());
        if (offset + piece.byteSize() < length()) {
            return null;
        }
        arriving = null;
        if (!Arrays.equals(RemoteClient.digest(all), digest)) {
            return IreeException.of(
                    StatusCode.DATA_LOSS,
                    "%d bytes of constants do not have the digest that was announced".formatted(length()));
        }
        cache.add(digest, all);
        return null;
    }
}
