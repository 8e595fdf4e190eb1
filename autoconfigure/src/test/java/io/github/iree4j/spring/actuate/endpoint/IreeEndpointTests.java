package io.github.iree4j.spring.actuate.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.endpoint.IreeEndpointAutoConfiguration;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

class IreeEndpointTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(IreeAutoConfiguration.class, IreeEndpointAutoConfiguration.class))
            .withPropertyValues("management.endpoints.web.exposure.include=iree");

    @Test
    void showsDevicesAndModulesWithTheirFunctions(@TempDir Path directory) throws Exception {
        Path adder = TestModules.adder(directory);
        runner.withPropertyValues("iree.modules.adding.location=" + adder).run(context -> {
            IreeEndpoint endpoint = context.getBean(IreeEndpoint.class);
            IreeDescriptor iree = endpoint.iree();
            assertThat(iree.devices()).singleElement().satisfies(device -> {
                assertThat(device.driver()).isEqualTo("local");
                assertThat(device.executableFormats()).contains("vmvx-bytecode-fb");
            });
            assertThat(iree.modules()).singleElement().satisfies(module -> {
                assertThat(module.name()).isEqualTo("adding");
                assertThat(module.location()).isEqualTo(adder.toString());
                assertThat(module.functions())
                        .extracting(FunctionDescriptor::name)
                        .containsExactlyInAnyOrder("add", "refuse");
            });
            assertThat(endpoint.module("adding")).isEqualTo(iree.modules().getFirst());
            assertThat(endpoint.module("subtracting")).isNull();
        });
    }

    @Test
    void showsWorkersAndWhereTheyAre() {
        runner.withPropertyValues("iree.task.topology=cpus=0 l2=1M; cpus=any", "iree.task.workers=2")
                .run(context -> {
                    TaskDescriptor task =
                            context.getBean(IreeEndpoint.class).iree().task();
                    assertThat(task.workers()).isEqualTo(2);
                    assertThat(task.sleepingWorkers()).isBetween(0, 2);
                    assertThat(task.affinity()).isFalse();
                    assertThat(task.topology()).containsExactly("cpus=0 l2=1M", "cpus=any");
                });
    }

    @Test
    void absentWhenNotExposed() {
        runner.withPropertyValues("management.endpoints.web.exposure.include=health")
                .run(context -> assertThat(context).doesNotHaveBean(IreeEndpoint.class));
    }

    @Test
    void backsOffWhenUserDefinesOne() {
        runner.withUserConfiguration(OwnEndpoint.class)
                .run(context ->
                        assertThat(context).hasSingleBean(IreeEndpoint.class).hasBean("myEndpoint"));
    }

    @Test
    void absentWithoutARuntime() {
        runner.withPropertyValues("iree.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(IreeEndpoint.class));
    }

    @Test
    void absentWithoutActuatorOnClasspath() {
        runner.withClassLoader(new FilteredClassLoader("org.springframework.boot.actuate"))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(IreeRuntime.class)
                        .doesNotHaveBean("ireeEndpoint"));
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnEndpoint {
        @Bean
        IreeEndpoint myEndpoint(IreeRuntime runtime, Programs programs) {
            return new IreeEndpoint(runtime, programs);
        }
    }
}
