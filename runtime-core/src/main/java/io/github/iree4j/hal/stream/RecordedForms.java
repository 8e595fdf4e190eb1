package io.github.iree4j.hal.stream;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.record.RecordedCommandBuffer;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.record.RecordingBackend;
import io.github.iree4j.hal.schedule.StoredBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A device's forms of the commands of one command buffer: a {@link CommandForm} is created at the first execution and reused by
 * later ones, with other bindings if need be; overlapping executions have one each.
 */
final class RecordedForms implements RecordingBackend {
    /** Maximum number of idle forms; further overlapping executions create their own. */
    private static final int KEPT_LIMIT = 8;

    private final StreamDevice device;
    private final boolean oneShot;
    private final ArrayDeque<BoundForm> idle = new ArrayDeque<>(); // guarded by itself
    private @Nullable Recording recording; // once it is finished
    private @Nullable StreamStorage updates; // the same; null for none
    private boolean[] written = new boolean[0]; // the same; by place, see ResolvedBindings

    /**
     * Creates the forms of a command buffer that is going to be recorded.
     *
     * @param oneShot whether the command buffer is executed once, so that no binding ever changes
     */
    private RecordedForms(StreamDevice device, boolean oneShot) {
        this.device = device;
        this.oneShot = oneShot;
    }

    /** Makes a command buffer; the arguments are those of {@link RecordedCommandBuffer}. */
    static RecordedCommandBuffer record(StreamDevice device, int modes, int categories, int bindingCapacity) {
        RecordedForms forms = new RecordedForms(device, (modes & CommandBuffer.ONE_SHOT) != 0);
        return new RecordedCommandBuffer(forms, modes, categories, bindingCapacity);
    }

    /** Makes a command buffer for one dispatch. */
    static RecordedCommandBuffer ofDispatch(StreamDevice device, int bindings) {
        return RecordedCommandBuffer.ofDispatch(new RecordedForms(device, true), bindings);
    }

    /** Returns the forms of a command buffer that the device recorded, see {@link #isOf}. */
    static RecordedForms of(RecordedCommandBuffer commands) {
        return (RecordedForms) commands.backend();
    }

    /** Whether a device recorded a command buffer. */
    static boolean isOf(StreamDevice device, CommandBuffer commands) {
        return commands instanceof RecordedCommandBuffer recorded
                && recorded.backend() instanceof RecordedForms forms
                && forms.device.equals(device);
    }

    StreamDevice device() {
        return device;
    }

    /**
     * Lends a form for one execution.
     *
     * @param lane the lane of the submission
     * @return the form, to be returned with {@link #giveBack}; the command buffer is retained meanwhile
     */
    BoundForm lend(Lane lane) {
        synchronized (idle) {
            for (BoundForm candidate : idle) {
                if (candidate.suits(lane)) {
                    idle.remove(candidate);
                    return candidate;
                }
            }
        }
        Recording finished = Objects.requireNonNull(recording);
        ResolvedBindings bindings = new ResolvedBindings(device, finished, written);
        return new BoundForm(lane, bindings, device.encoder().form(finished, bindings, updates, lane, oneShot));
    }

    /** Takes back a form that no hardware uses any more. */
    void giveBack(BoundForm used) {
        if (!oneShot) {
            synchronized (idle) {
                if (idle.size() < KEPT_LIMIT) {
                    idle.addFirst(used); // the last one used likely has the next bindings
                    return;
                }
            }
        }
        used.close();
    }

    @Override
    public StoredBuffer<?> usable(Buffer buffer) {
        StreamBuffer.usable(device, "recorded buffer", buffer);
        return (StoredBuffer<?>) buffer.allocatedBuffer();
    }

    @Override
    public void checkDispatch(
            Executable executable, int export, DispatchConfig config, @Nullable BufferRef workgroupCount) {
        device.encoder().checkDispatch(executable, export, config, workgroupCount);
    }

    @Override
    public int flags(Executable executable, int export, List<BufferRef> bindings) {
        boolean fixed = true;
        for (int i = 0; i < bindings.size(); i++) {
            Buffer buffer = bindings.get(i).buffer();
            fixed &= buffer != null;
            if (buffer != null && device.encoder().mayWrite(executable, export, i)) {
                StreamBuffer.usable(device, "recorded buffer", buffer).checkWritable();
            }
        }
        return device.encoder().flags(executable, export, fixed || oneShot);
    }

    @Override
    public void finished(Recording finished) {
        recording = finished;
        written = ResolvedBindings.written(device.encoder(), finished);
        if (finished.updates().byteSize() > 0) {
            StreamStorage captured = device.memory().upload(finished.updates().byteSize());
            captured.mapped().copyFrom(finished.updates());
            updates = captured;
        }
    }

    @Override
    public void close() {
        synchronized (idle) {
            idle.forEach(BoundForm::close); // all of them: executions retain the command buffer
            idle.clear();
        }
        if (updates != null) {
            updates.release(Frontier.EMPTY);
        }
    }
}
