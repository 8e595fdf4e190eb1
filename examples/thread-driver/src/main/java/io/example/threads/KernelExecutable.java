package io.example.threads;

import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;

/** A library loaded on a device. */
final class KernelExecutable extends Executable {
    private final ThreadDriver driver;
    private final String format;
    private final List<Kernel> kernels;

    KernelExecutable(ThreadDriver driver, String format, List<Kernel> kernels) {
        this.driver = driver;
        this.format = format;
        this.kernels = kernels;
    }

    boolean isOf(ThreadDriver other) {
        return driver == other;
    }

    Kernel kernel(int ordinal) {
        if (ordinal < 0 || ordinal >= kernels.size()) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "export %d of an executable of format '%s' with %d exports does not exist"
                            .formatted(ordinal, format, kernels.size()));
        }
        return kernels.get(ordinal);
    }

    @Override
    public String format() {
        return format;
    }

    @Override
    public int exportCount() {
        return kernels.size();
    }

    @Override
    public ExecutableExport export(int ordinal) {
        Kernel kernel = kernel(ordinal);
        return new ExecutableExport(kernel.name(), 0, kernel.constantCount(), kernel.bindingCount(), 1, 1, 1, 0);
    }

    @Override
    protected void destroy() {}
}
