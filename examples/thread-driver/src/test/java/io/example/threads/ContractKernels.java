package io.example.threads;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** The kernels of the contract suites, for this driver. */
public final class ContractKernels implements KernelLibrary {
    private static final String FORMAT = "contract-kernels";
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    /** For the service loader. */
    public ContractKernels() {}

    static Executable load(Device device, int... constants) {
        return device.createExecutable(
                new ExecutableParams(FORMAT, MemorySegment.ofArray(new byte[0]), null, constants));
    }

    @Override
    public String format() {
        return FORMAT;
    }

    @Override
    public List<Kernel> kernels(int[] constants) {
        int constant = constants.length == 0 ? -1 : constants[0];
        return List.of(
                new Kernel("add", 0, 3, (x, _, _, d) -> set(d, 2, x, get(d, 0, x) + get(d, 1, x))),
                new Kernel("scale", 2, 2, (x, _, _, d) -> set(
                        d, 1, x, get(d, 0, x) * d.constants()[0] + d.constants()[1])),
                new Kernel("fail", 0, 0, (_, _, _, _) -> fault()),
                new Kernel("coordinates", 0, 1, (x, y, z, d) -> set(
                        d, 0, x + d.countX() * (y + d.countY() * z), x | y << 8 | z << 16)),
                new Kernel("facts", 0, 1, (_, _, _, d) -> {
                    set(d, 0, 0, constant);
                    set(d, 0, 4, (int) d.bindings()[0].byteSize());
                }),
                new Kernel("crash", 0, 0, (_, _, _, _) -> fault()));
    }

    private static void fault() {
        throw new IllegalStateException("a kernel faulted");
    }

    private static int get(Kernel.Arguments dispatch, int binding, int index) {
        return dispatch.bindings()[binding].get(INT, 4L * index);
    }

    private static void set(Kernel.Arguments dispatch, int binding, int index, int value) {
        dispatch.bindings()[binding].set(INT, 4L * index, value);
    }
}
