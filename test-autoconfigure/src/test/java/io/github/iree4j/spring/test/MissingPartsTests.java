package io.github.iree4j.spring.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** This module's tests run without the parts that an application may leave out: the report of a failed start names them. */
@ExtendWith(OutputCaptureExtension.class)
class MissingPartsTests {
    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Application {}

    private static void failsToStart(String... properties) {
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        String[] arguments = new String[properties.length];
        for (int i = 0; i < properties.length; i++) {
            arguments[i] = "--" + properties[i];
        }
        assertThatExceptionOfType(RuntimeException.class)
                .isThrownBy(() -> application.run(arguments).close());
    }

    @ParameterizedTest
    @CsvSource({
        "vulkan, iree4j-backend-vulkan",
        "cuda:0, iree4j-backend-gpu",
        "hip, iree4j-backend-gpu",
        "cluster://1/local, spring-boot-starter-iree-cluster"
    })
    void deviceWithoutDriverNamesTheDependency(String device, String artifact, CapturedOutput output) {
        failsToStart("iree.devices.gpu.uri=" + device);
        assertThat(output).contains("Add the dependency io.github.iree4j:" + artifact + ".");
    }

    @Test
    void programOfPortableKernelsNamesTheDependency(CapturedOutput output) {
        failsToStart("iree.modules.product.location=file:../fixtures/modules/3.13.0/vmvx/simple_mul.vmfb");
        assertThat(output).contains("Add the dependency io.github.iree4j:iree4j-vmvx.");
    }

    @Test
    void programOfShadersNamesTheDependencyAndTheProperties(CapturedOutput output) {
        failsToStart("iree.modules.product.location=file:../fixtures/modules/3.13.0/vulkan/simple_mul.vmfb");
        assertThat(output)
                .contains("Add the dependency io.github.iree4j:iree4j-backend-vulkan, and name its device in"
                        + " 'iree.devices.<name>.uri' and 'iree.modules.product.devices'.");
    }
}
