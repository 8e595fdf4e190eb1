package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Programs with changed files. */
@Timeout(300)
class ChangedFileReloadTests {

    @TempDir
    Path directory;

    private final ApplicationContextRunner runner =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(IreeAutoConfiguration.class));

    @Test
    void programWithAChangedFileIsLoadedAgainOnRequest() throws Exception {
        Path weights = Files.copy(TestModules.fixture("weights.irpa"), directory.resolve("weights.irpa"));
        runner.withPropertyValues(
                        "iree.modules.w.location=" + TestModules.fixture("3.13.0/cpu/weights.vmfb"),
                        "iree.modules.w.parameters.model=" + weights,
                        "iree.loading.on-change=reload",
                        "iree.watchdog.interval=10ms")
                .run(context -> {
                    Programs programs = context.getBean(Programs.class);
                    LoadedProgram before = programs.find("w").orElseThrow();
                    Files.write(weights, new byte[1], StandardOpenOption.APPEND);
                    while (programs.find("w").orElseThrow() == before) {
                        Poll.pause();
                    }
                    try (Tensor x = Tensor.of(new float[] {1, 2, 3, 4, 5, 6, 7, 8}, 2, 4);
                            Results results =
                                    context.getBean(InvocationService.class).invoke("w.weigh", x)) {
                        assertThat(results.tensor(0).toFloatArray()).isNotEmpty();
                    }
                });
    }
}
