package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Tensor;
import io.github.iree4j.hal.Device;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.test.EnabledIfIreeDriver;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The digits program on HIP, on a driver without hardware: AMD's machine code is read and cannot be executed. */
@EnabledIfIreeDriver("hip")
class DigitsHipTests {
    @Test
    void programLoadsItsCodeForAmdAndItsCallsFailOnADriverUnableToExecute() {
        try (ConfigurableApplicationContext application = new SpringApplicationBuilder(SampleApplication.class)
                        .web(WebApplicationType.NONE)
                        .run(
                                "--iree.devices.cpu.uri=local",
                                "--iree.devices.gpu.uri=hip://0",
                                "--iree.device=cpu",
                                "--iree.modules.gpu-digits.location=classpath:models/digits.vmfb",
                                "--iree.modules.gpu-digits.parameters.model=classpath:models/digits.irpa",
                                "--iree.modules.gpu-digits.devices=gpu");
                Tensor picture = Tensor.of(new float[64], 1, 64)) {
            // Loading looks up its three kernels by their names, in the code for the device's architecture.
            Device device = application
                    .getBean(Programs.class)
                    .find("gpu-digits")
                    .orElseThrow()
                    .program()
                    .devices()
                    .getFirst();
            assertThat(device.id()).startsWith("hip");
            assertThat(device.queryI64("hal.executable.format", "rocm-hsaco-fb"))
                    .hasValue(1);
            assertThatThrownBy(() -> application
                            .getBean(InvocationService.class)
                            .invoke("gpu-digits.classify", picture)
                            .close())
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.UNIMPLEMENTED))
                    .hasMessageContaining("NOT_SUPPORTED (801)");
        }
    }
}
