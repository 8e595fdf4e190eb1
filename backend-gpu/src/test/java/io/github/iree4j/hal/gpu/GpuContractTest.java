package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.contract.BackendContract;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(GpuKind.class)
class GpuContractTest extends BackendContract {
    @TempDir
    private static Path directory;

    GpuContractTest(GpuKind kind) {
        super(new GpuBackend(directory, kind));
    }
}
