package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A cache in a device with a limit of memory. */
@Timeout(60)
class CacheBudgetTest {
    private static final int PAGES = 8192;
    private static final Path CONFIG = GeneratorTest.config(GeneratorTest.DECODER);

    private static Generator generator(Program program, int pages) {
        return Generator.create(
                program,
                GeneratorOptions.builder()
                        .config(CONFIG)
                        .pages(pages)
                        .probePrompts(1)
                        .build());
    }

    private static IreeRuntime runtime(long limit) {
        return IreeRuntime.builder()
                .device(
                        "cpu",
                        "local",
                        DeviceOptions.builder().memoryLimit(limit).build())
                .build();
    }

    @Test
    void aCacheWithAPageTooManyIsRefusedAtTheStartWithNumbers() {
        long bytes;
        try (IreeRuntime runtime = runtime(0);
                Program program = GeneratorTest.load(runtime, GeneratorTest.DECODER)) {
            ModelConfig config = ModelConfig.parse("config", ModelConfig.text(CONFIG));
            bytes = PAGES
                    * ModelInterface.of(program, config).caches().getFirst().pageBytes();
        }
        try (IreeRuntime runtime = runtime(bytes - 1);
                Program program = GeneratorTest.load(runtime, GeneratorTest.DECODER)) {
            long before = runtime.device().allocator().statistics().bytesLive();
            IreeException refused = catchThrowableOfType(IreeException.class, () -> generator(program, PAGES));
            assertThat(refused.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
            assertThat(refused)
                    .hasMessageContaining("%d bytes", bytes)
                    .hasMessageContaining("the limit of device 'cpu' is %d bytes", bytes - 1);
            assertThat(runtime.device().allocator().statistics().bytesLive()).isEqualTo(before);
            try (Generator fits = generator(program, PAGES / 2)) {
                assertThat(fits.submit(GenerationRequest.of(3, 1))
                                .result()
                                .await()
                                .tokens())
                        .hasSize(3);
            }
        }
    }
}
