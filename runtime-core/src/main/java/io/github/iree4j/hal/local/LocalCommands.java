package io.github.iree4j.hal.local;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.collective.GroupChannel;
import io.github.iree4j.hal.record.RecordingBackend;
import io.github.iree4j.hal.storage.StoredBuffer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;

/** Checks the commands of a CPU device. */
final class LocalCommands implements RecordingBackend {
    /** Shared by all command buffers: stateless. */
    static final LocalCommands INSTANCE = new LocalCommands();

    private static final int DIMENSION_Z_LIMIT = 0xFFFF;

    private LocalCommands() {}

    @Override
    public StoredBuffer<?> usable(Buffer buffer) {
        return LocalBuffer.usable(buffer);
    }

    @Override
    public boolean isCopiedOnWrite(Buffer buffer) {
        return LocalBuffer.isCopied(buffer);
    }

    @Override
    public void checkDispatch(
            Executable executable, int export, DispatchConfig config, @Nullable BufferRef workgroupCount) {
        if (!(executable instanceof LocalExecutable)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "executable of format '%s' was not created by the local device".formatted(executable.format()));
        }
        ExecutableExport entry = executable.export(export);
        if (workgroupCount == null) {
            checkCounts(entry, config.workgroupCountX(), config.workgroupCountY(), config.workgroupCountZ());
        }
        int sizeZ = config.workgroupSizeZ();
        if (sizeZ < 0 || sizeZ > DIMENSION_Z_LIMIT) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "workgroup size z of dispatch '%s' is %s, the limit is 65535"
                            .formatted(entry.name(), Integer.toUnsignedString(sizeZ)));
        }
    }

    /**
     * Checks the counts of a dispatch.
     *
     * @throws IreeException OUT_OF_RANGE for too large counts
     */
    static void checkCounts(ExecutableExport entry, int x, int y, int z) {
        if (z < 0 || z > DIMENSION_Z_LIMIT) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "workgroup count z of dispatch '%s' is %s, the limit is 65535"
                            .formatted(entry.name(), Integer.toUnsignedString(z)));
        }
        long xy = Integer.toUnsignedLong(x) * Integer.toUnsignedLong(y);
        if (xy < 0 || z != 0 && xy > Long.MAX_VALUE / z) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "dispatch '%s' of %sx%sx%d workgroups exceeds 2^63 - 1"
                            .formatted(entry.name(), Integer.toUnsignedString(x), Integer.toUnsignedString(y), z));
        }
    }

    @Override
    public void checkChannel(Channel channel) {
        if (!(channel instanceof GroupChannel own) || !(own.host() instanceof HostDevice)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "channel was not created by the device of the command buffer");
        }
    }

    @Override
    public int regionLimit() {
        return Region.COMMANDS_LIMIT;
    }
}
