package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.stream.DriverCommands;
import io.github.iree4j.hal.stream.StreamStorage;
import io.github.iree4j.hal.stream.TransferCommands;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The steps of a submission. Data in memory of this process is moved, or mirrored at the peer. */
final class RemoteCommands implements TransferCommands, DriverCommands {
    private static final int STEPS_LIMIT = 1 << 14;

    /** Limit on the bytes of steps in a frame, beside the head and 255 waits. */
    private static final long BYTES_LIMIT = SessionWire.FRAME_LIMIT - (16 << 10);

    private final RemoteDriver driver;
    private final @Nullable RemoteForm form; // form executed by the steps, or null
    private final List<Step> steps = new ArrayList<>();
    private long bytes; // bytes of the steps in a frame

    RemoteCommands(RemoteDriver driver, @Nullable RemoteForm form) {
        this.driver = driver;
        this.form = form;
    }

    /** Handles the failure of the commands at the peer; called before the submission is complete. */
    void failed(IreeException cause) {
        if (form != null && cause.code() == StatusCode.RESOURCE_EXHAUSTED) {
            form.recordAgain();
        }
    }

    List<Step> steps() {
        return steps;
    }

    void add(Step step) {
        if (steps.size() == STEPS_LIMIT) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "%d steps of one operation on a remote device, the limit; submit several".formatted(STEPS_LIMIT));
        }
        bytes += step.frameBytes();
        if (bytes > BYTES_LIMIT) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "one operation on a remote device takes more than %d bytes to describe, the limit; submit several with fewer ranges of buffers"
                            .formatted(BYTES_LIMIT));
        }
        steps.add(step);
    }

    /** Returns the maximum number of bytes of the steps in a frame, with uploads by transfer. */
    long bytes() {
        return bytes;
    }

    @Override
    public void fill(StreamStorage target, long offset, long length, long pattern, int patternLength) {
        RemoteMemory to = driver.memory(target);
        long at = target.offset() + offset;
        add(new Step.Fill(to.farHandle(), at, length, pattern, patternLength));
        if (to.isNear()) {
            add(new Step.Download(to.farHandle(), at, to.near(at, length)));
        }
    }

    @Override
    public void copy(StreamStorage source, long sourceOffset, StreamStorage target, long targetOffset, long length) {
        RemoteMemory from = driver.memory(source);
        RemoteMemory to = driver.memory(target);
        long first = source.offset() + sourceOffset;
        long at = target.offset() + targetOffset;
        boolean isHere = from.driver().isSameAs(driver);
        if (from.isNear()) {
            add(new Step.Upload(from.near(first, length), to.farHandle(), at, false));
        } else if (!isHere) {
            add(new Step.Fetch(from.granted(first, length, driver.incarnation()), to.farHandle(), at));
        } else if (!to.isNear()) {
            add(new Step.Copy(from.farHandle(), first, to.farHandle(), at, length));
        }
        if (to.isNear()) {
            boolean isDirect = isHere && !from.isNear();
            add(new Step.Download(
                    isDirect ? from.farHandle() : to.farHandle(), isDirect ? first : at, to.near(at, length)));
        }
    }

    @Override
    public void copyConstants(StreamStorage source, StreamStorage target, long targetOffset, long length) {
        RemoteMemory from = driver.memory(source);
        RemoteMemory to = driver.memory(target);
        if (length < Step.LEAST_CONTENT || length > Step.MOST_CONTENT || !from.isNear() || to.isNear()) {
            copy(source, 0, target, targetOffset, length);
        } else {
            long at = target.offset() + targetOffset;
            add(new Step.Upload(from.near(source.offset(), length), to.farHandle(), at, true));
        }
    }

    @Override
    public DriverCommands finish(String operation) {
        return this;
    }

    @Override
    public void release() {}
}
