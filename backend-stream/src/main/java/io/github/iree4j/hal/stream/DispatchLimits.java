package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * Checks of dispatches on a device with kernels compiled for a fixed workgroup size and a declared local memory.
 *
 * @param device the device's id, for messages
 * @param countX maximum number of workgroups along x
 * @param countY maximum number of workgroups along y
 * @param countZ maximum number of workgroups along z
 */
public record DispatchLimits(String device, long countX, long countY, long countZ) {

    /**
     * Checks a dispatch when recorded.
     *
     * @param entry the kernel
     * @param config workgroups
     * @param workgroupCount the workgroup counts of an indirect dispatch, checked by {@link #checkCounts} once known;
     *     null for a direct dispatch
     * @throws IreeException INVALID_ARGUMENT for workgroups of another size than the kernel's and for counts not
     *     aligned to 4 bytes; UNIMPLEMENTED for local memory not declared by the kernel; OUT_OF_RANGE naming a count
     *     and its limit
     */
    public void check(ExecutableExport entry, DispatchConfig config, @Nullable BufferRef workgroupCount) {
        if (config.dynamicLocalMemory() != 0) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "dispatch '%s' asks for %s bytes of local memory; kernels declare theirs"
                            .formatted(entry.name(), Integer.toUnsignedString(config.dynamicLocalMemory())));
        }
        checkSize(entry, config);
        if (workgroupCount == null) {
            checkCounts(entry, config.workgroupCountX(), config.workgroupCountY(), config.workgroupCountZ());
        } else if (workgroupCount.offset() % 4 != 0
                || workgroupCount.buffer() != null && workgroupCount.buffer().offset() % 4 != 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "workgroup counts of dispatch '%s' at offset %d are not aligned to 4 bytes"
                            .formatted(entry.name(), workgroupCount.offset()));
        }
    }

    private static void checkSize(ExecutableExport entry, DispatchConfig config) {
        if (differs(config.workgroupSizeX(), entry.workgroupSizeX())
                || differs(config.workgroupSizeY(), entry.workgroupSizeY())
                || differs(config.workgroupSizeZ(), entry.workgroupSizeZ())) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "dispatch '%s' asks for workgroups of %sx%sx%s, it was compiled for %dx%dx%d"
                            .formatted(
                                    entry.name(),
                                    Integer.toUnsignedString(config.workgroupSizeX()),
                                    Integer.toUnsignedString(config.workgroupSizeY()),
                                    Integer.toUnsignedString(config.workgroupSizeZ()),
                                    entry.workgroupSizeX(),
                                    entry.workgroupSizeY(),
                                    entry.workgroupSizeZ()));
        }
    }

    private static boolean differs(int wanted, int compiled) {
        return wanted != 0 && wanted != compiled;
    }

    /**
     * Checks the workgroup counts of a dispatch, unsigned.
     *
     * @param entry the kernel
     * @param x workgroups along x
     * @param y along y
     * @param z along z
     * @throws IreeException OUT_OF_RANGE naming the count and the limit
     */
    public void checkCounts(ExecutableExport entry, int x, int y, int z) {
        checkCount(entry, "x", x, countX);
        checkCount(entry, "y", y, countY);
        checkCount(entry, "z", z, countZ);
    }

    private void checkCount(ExecutableExport entry, String dimension, int count, long limit) {
        if (Integer.toUnsignedLong(count) > limit) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "workgroup count %s of dispatch '%s' is %s, the limit is %d of device '%s'"
                            .formatted(dimension, entry.name(), Integer.toUnsignedString(count), limit, device));
        }
    }
}
