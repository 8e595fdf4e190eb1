package io.github.iree4j.tools;

import static io.github.iree4j.tools.CommandLineRun.iree4j;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DriverProvider;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The command line with {@code --device=vulkan}. */
class VulkanDeviceTest {
    private static Availability vulkan() {
        return DriverProvider.installed().stream()
                .filter(driver -> driver.name().equals("vulkan"))
                .findFirst()
                .orElseThrow()
                .availability();
    }

    @BeforeEach
    void needsADriver() {
        Availability vulkan = vulkan();
        if (!vulkan.available()) {
            assertThat(System.getProperty("iree.require", ""))
                    .as(vulkan.reason())
                    .doesNotContain("vulkan");
            Assumptions.abort("no Vulkan here: " + vulkan.reason());
        }
    }

    @Test
    void runsACompiledVulkanProgram() {
        CommandLineRun run = iree4j(
                "run",
                "--device=vulkan",
                "--module=" + CommandLineRun.fixture("20231004.665/vulkan-async/filters.vmfb"),
                "--function=filter_add",
                "--input=1x2x4xi8=1 2 3 4 50 60 70 -128");
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).contains("1x2x4xi8=[[2 4 6 8][100 120 -116 0]]");
    }

    @Test
    void listsTheDevicesOfTheDriverWithTheirFormats() {
        CommandLineRun run = iree4j("devices");
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).contains("vulkan").contains("vulkan-spirv-fb");
    }
}
