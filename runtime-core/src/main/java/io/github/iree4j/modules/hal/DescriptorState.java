package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * The state of programs with descriptor sets: the layouts of executables, and the constants and bindings pushed to
 * command buffers still recording. Empty for programs of other generations.
 */
final class DescriptorState implements AutoCloseable {
    /** Limit on unfinished recordings; no compiled program has as many at once. */
    private static final int MAX_RECORDING = 1024;

    /** Limit on executables; programs create each executable once. */
    private static final int MAX_EXECUTABLES = 1 << 16;

    private final Map<Executable, List<PipelineLayout>> layouts = new IdentityHashMap<>();
    private final Map<CommandBuffer, Descriptors> recording = new IdentityHashMap<>();

    void setLayouts(Executable executable, List<PipelineLayout> perExport) {
        if (layouts.size() >= MAX_EXECUTABLES && !layouts.containsKey(executable)) {
            layouts.keySet().removeIf(each -> !each.isLive());
        }
        if (layouts.size() >= MAX_EXECUTABLES && !layouts.containsKey(executable)) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "the program has created %d executables with pipeline layouts, which is the limit"
                            .formatted(MAX_EXECUTABLES));
        }
        layouts.put(executable, List.copyOf(perExport));
    }

    PipelineLayout layout(Executable executable, int export) {
        List<PipelineLayout> known = layouts.get(executable);
        if (known == null) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "the executable was created without pipeline layouts and cannot be dispatched with descriptor sets");
        }
        if (export < 0 || export >= known.size()) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "export %d of an executable with %d exports does not exist".formatted(export, known.size()));
        }
        return known.get(export);
    }

    Descriptors of(CommandBuffer commands) {
        Descriptors descriptors = recording.get(commands);
        if (descriptors == null) {
            if (commands.isFinished()) {
                throw IreeException.of(StatusCode.FAILED_PRECONDITION, "command buffer is finished and cannot record");
            }
            forgetDropped();
            if (recording.size() >= MAX_RECORDING) {
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%d command buffers with descriptor sets are not finished, which is the limit"
                                .formatted(MAX_RECORDING));
            }
            descriptors = new Descriptors();
            recording.put(commands, descriptors);
        }
        return descriptors;
    }

    /** Forgets recordings dropped by failed calls, since these would needlessly retain buffers. */
    private void forgetDropped() {
        recording.entrySet().removeIf(each -> {
            boolean dropped = !each.getKey().isLive();
            if (dropped) {
                each.getValue().close();
            }
            return dropped;
        });
    }

    /** Records the end of a command buffer's recording: nothing more will be pushed. */
    void finished(CommandBuffer commands) {
        Descriptors descriptors = recording.remove(commands);
        if (descriptors != null) {
            descriptors.close();
        }
    }

    @Override
    public void close() {
        recording.values().forEach(Descriptors::close);
        recording.clear();
        layouts.clear();
    }
}
