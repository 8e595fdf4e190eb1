package io.github.iree4j.async.io;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A transfer of a range of any size, made of pieces; see {@link AsyncFile#readFully}. */
@NotForApplications
public final class WholeTransfer {
    /*
     * The first pieces are started by the calling thread, later pieces by the completions of earlier pieces, on the
     * owner. The monitor guards all state; the only foreign call made under the monitor is the start of a piece, which
     * calls nothing back.
     */
    /** Bytes per piece. A guess; large ranges are then read at the speed of a memory copy, see FileReadBenchmark. */
    static final int PIECE = 1 << 20;

    /** Pieces in flight at a time; bounds the kernel memory in use for a range. */
    private static final int PIECES = 4;

    private final AsyncFile file;
    private final boolean write;
    private final long offset;
    private final MemorySegment memory;
    private final Supplier<@Nullable IreeException> stop;
    private final Completion completion;
    private final FileOperation[] underWay = new FileOperation[PIECES];

    private long started;
    private int running;
    private @Nullable IreeException failure;
    private boolean over;

    private WholeTransfer(
            AsyncFile file,
            boolean write,
            long offset,
            MemorySegment memory,
            Supplier<@Nullable IreeException> stop,
            Completion completion) {
        this.file = file;
        this.write = write;
        this.offset = offset;
        this.memory = memory;
        this.stop = stop;
        this.completion = completion;
    }

    static WholeTransfer start(
            AsyncFile file,
            boolean write,
            long offset,
            MemorySegment memory,
            Supplier<@Nullable IreeException> stop,
            Completion completion) {
        file.check(write, offset, memory);
        WholeTransfer transfer = new WholeTransfer(file, write, offset, memory, stop, completion);
        if (memory.byteSize() == 0) {
            file.proactor().execute(() -> completion.ended(0, null));
            return transfer;
        }
        file.retain(); // closing the file must not stop a transfer in progress
        boolean begun = false;
        try {
            transfer.begin();
            begun = true;
        } finally {
            if (!begun) {
                file.release();
            }
        }
        return transfer;
    }

    /** Starts the first pieces; throws only if no piece at all could be started. */
    private synchronized void begin() {
        for (int slot = 0; slot < PIECES && started < memory.byteSize(); slot++) {
            try {
                startNext(slot);
            } catch (IreeException e) {
                if (running == 0) {
                    throw e;
                }
                failure = e;
                return;
            }
        }
    }

    private void startNext(int slot) {
        long size = Math.min(PIECE, memory.byteSize() - started);
        startPiece(slot, started, size);
        started += size;
    }

    private void startPiece(int slot, long at, long size) {
        Completion ended = (moved, pieceFailure) -> ended(slot, at, size, moved, pieceFailure);
        underWay[slot] = file.start(write, offset + at, memory.asSlice(at, size), ended);
        running++;
    }

    private void ended(int slot, long at, long size, long moved, @Nullable IreeException pieceFailure) {
        IreeException outcome;
        IreeException stopCause = stop.get();
        synchronized (this) {
            running--;
            if (failure == null && pieceFailure == null) {
                failure = isLast(at, moved) ? null : stopCause;
            }
            if (failure == null) {
                failure = pieceFailure != null ? pieceFailure : goOn(slot, at, size, moved);
            }
            if (running > 0 || over) {
                return;
            }
            over = true;
            outcome = failure;
        }
        file.release();
        completion.ended(outcome == null ? memory.byteSize() : 0, outcome);
    }

    /** Returns whether the transfer is complete, with nothing left to stop. */
    private boolean isLast(long at, long moved) {
        return running == 0 && started == memory.byteSize() && at + moved == memory.byteSize();
    }

    /** Starts the next piece in a slot; returns the reason if impossible, or null. */
    private @Nullable IreeException goOn(int slot, long at, long size, long moved) {
        try {
            if (moved <= 0) {
                return IreeException.of(
                        StatusCode.DATA_LOSS,
                        write
                                ? "%s takes no more at byte %d".formatted(file.describe(), offset + at)
                                : "%s ended at byte %d while being read".formatted(file.describe(), offset + at));
            }
            if (moved < size) {
                startPiece(slot, at + moved, size - moved);
            } else if (started < memory.byteSize()) {
                startNext(slot);
            }
            return null;
        } catch (IreeException e) {
            return e;
        }
    }

    /**
     * Requests cancellation. The completion is still called once, with CANCELLED if the request was in time; until then
     * the memory is in use. From any thread; no effect after the end.
     */
    public void cancel() {
        FileOperation[] pieces;
        synchronized (this) {
            if (over) {
                return;
            }
            if (failure == null) {
                failure = IreeException.of(
                        StatusCode.CANCELLED,
                        "%s of %d bytes at offset %d of %s was cancelled"
                                .formatted(write ? "write" : "read", memory.byteSize(), offset, file.describe()));
            }
            pieces = underWay.clone();
        }
        for (FileOperation piece : pieces) {
            if (piece != null) {
                piece.cancel();
            }
        }
    }
}
