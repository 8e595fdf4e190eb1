package io.github.iree4j.hal.stream;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.collective.GroupChannel;
import io.github.iree4j.hal.record.RecordedCommandBuffer;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.record.RecordingBackend;
import io.github.iree4j.hal.schedule.StoredBuffer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A device's forms of the commands of a command buffer. A {@link CommandForm} is created at the first execution and
 * reused by later executions, with other bindings if need be; overlapping executions use separate forms.
 */
final class RecordedForms implements RecordingBackend {
    /** Maximum number of idle forms; further overlapping executions create new forms. */
    private static final int KEPT_LIMIT = 8;

    private final StreamDevice device;
    private final boolean oneShot;
    private @Nullable Part whole; // set once the recording is finished
    private final Map<Long, Part> parts = new HashMap<>(0); // parts between collectives, by regions; guarded by itself
    private @Nullable StreamStorage updates; // bytes of the updates; null for none

    /** All commands, or the commands between two collectives, and their forms. */
    final class Part {
        final Recording recording;
        private final boolean[] written; // by place, see ResolvedBindings
        private final ArrayDeque<BoundForm> idle = new ArrayDeque<>(); // guarded by itself

        Part(Recording recording) {
            this.recording = recording;
            this.written = ResolvedBindings.written(recording);
        }

        /**
         * Lends a form for an execution.
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
            ResolvedBindings bindings = new ResolvedBindings(device, recording, written);
            return new BoundForm(lane, bindings, device.encoder().form(recording, bindings, updates, lane, oneShot));
        }

        /** Takes back a form no longer used by hardware. */
        void giveBack(BoundForm used) {
            if (!oneShot) {
                synchronized (idle) {
                    if (idle.size() < KEPT_LIMIT) {
                        idle.addFirst(used); // the form used last likely has the next bindings
                        return;
                    }
                }
            }
            used.close();
        }

        private void close() {
            synchronized (idle) {
                idle.forEach(BoundForm::close); // all forms are idle: executions retain the command buffer
                idle.clear();
            }
        }
    }

    /**
     * Creates the forms of a command buffer to be recorded.
     *
     * @param oneShot whether the command buffer is executed once, so that no binding ever changes
     */
    private RecordedForms(StreamDevice device, boolean oneShot) {
        this.device = device;
        this.oneShot = oneShot;
    }

    /** Creates a command buffer, with the arguments of {@link RecordedCommandBuffer}. */
    static RecordedCommandBuffer record(StreamDevice device, int modes, int categories, int bindingCapacity) {
        RecordedForms forms = new RecordedForms(device, (modes & CommandBuffer.ONE_SHOT) != 0);
        return new RecordedCommandBuffer(forms, modes, categories, bindingCapacity);
    }

    /** Creates a command buffer for a single dispatch. */
    static RecordedCommandBuffer ofDispatch(StreamDevice device, int bindings) {
        return RecordedCommandBuffer.ofDispatch(new RecordedForms(device, true), bindings);
    }

    /** Returns the forms of a command buffer recorded by the device, see {@link #isOf}. */
    static RecordedForms of(RecordedCommandBuffer commands) {
        return (RecordedForms) commands.backend();
    }

    /** Returns whether a device recorded a command buffer. */
    static boolean isOf(StreamDevice device, CommandBuffer commands) {
        return commands instanceof RecordedCommandBuffer recorded
                && recorded.backend() instanceof RecordedForms forms
                && forms.device.equals(device);
    }

    /** Returns all commands. */
    Part whole() {
        return Objects.requireNonNull(whole);
    }

    /** Returns the commands of some regions. */
    Part part(int firstRegion, int endRegion) {
        synchronized (parts) {
            return parts.computeIfAbsent(
                    (long) firstRegion << Integer.SIZE | endRegion,
                    key -> new Part(whole().recording.regions(firstRegion, endRegion)));
        }
    }

    @Override
    public StoredBuffer<?> usable(Buffer buffer) {
        StreamBuffer.usable(device, "recorded buffer", buffer);
        return (StoredBuffer<?>) buffer.allocatedBuffer();
    }

    @Override
    public boolean isCopiedOnWrite(Buffer buffer) {
        return StreamBuffer.isCopied(device, buffer);
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
            if (buffer != null && executable.mayWrite(export, i)) {
                StreamBuffer.usable(device, "recorded buffer", buffer).checkWritable();
            }
        }
        return device.encoder().flags(executable, export, fixed || oneShot);
    }

    @Override
    public void checkChannel(Channel channel) {
        if (!(channel instanceof GroupChannel own) || !own.host().equals(device.channels)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "channel was not created by the device of the command buffer");
        }
    }

    @Override
    public void checkCollective(Collective operation) {
        device.channels.library().check(operation);
    }

    @Override
    public void finished(Recording finished) {
        whole = new Part(finished);
        if (finished.updates().byteSize() > 0) {
            StreamStorage captured = device.memory().upload(finished.updates().byteSize());
            captured.mapped().copyFrom(finished.updates());
            updates = captured;
        }
    }

    @Override
    public void close() {
        if (whole != null) {
            whole.close();
        }
        synchronized (parts) {
            parts.values().forEach(Part::close);
            parts.clear();
        }
        if (updates != null) {
            updates.release(Frontier.EMPTY);
        }
    }
}
