package io.github.iree4j.spring.actuate.info;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.info.IreeInfoContributorAutoConfiguration;
import java.util.List;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

class IreeInfoContributorTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(IreeAutoConfiguration.class, IreeInfoContributorAutoConfiguration.class));

    @Test
    void contributesVersionsDriversAndDevices() {
        runner.withPropertyValues("iree.device=cpu", "iree.devices.cpu.uri=local")
                .run(context -> {
                    Info.Builder info = new Info.Builder();
                    context.getBean(IreeInfoContributor.class).contribute(info);
                    List<String> bytecode = context.getBean(IreeRuntime.class)
                            .monitor()
                            .versions()
                            .bytecode();
                    assertThat(info.build().get("iree"))
                            .asInstanceOf(InstanceOfAssertFactories.map(String.class, Object.class))
                            .containsEntry("bytecode", bytecode)
                            .containsEntry("hal", 7)
                            .hasEntrySatisfying(
                                    "drivers", // others are available or not, depending on the machine
                                    drivers -> assertThat(drivers)
                                            .asInstanceOf(InstanceOfAssertFactories.MAP)
                                            .containsEntry("local", "available"))
                            .hasEntrySatisfying(
                                    "devices",
                                    devices -> assertThat(devices)
                                            .asInstanceOf(InstanceOfAssertFactories.MAP)
                                            .containsOnlyKeys("cpu"));
                    assertThat(bytecode).isNotEmpty().isSubsetOf(List.of("15.0", "16.0", "17.0"));
                });
    }

    @Test
    void absentWhenDisabled() {
        runner.withPropertyValues("management.info.iree.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(IreeInfoContributor.class));
    }

    @Test
    void backsOffWhenUserDefinesTheBean() {
        runner.withUserConfiguration(OwnContributor.class)
                .run(context -> assertThat(context)
                        .hasSingleBean(IreeInfoContributor.class)
                        .hasBean("myContributor"));
    }

    @Test
    void absentWithoutARuntime() {
        runner.withPropertyValues("iree.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(IreeInfoContributor.class));
    }

    @Test
    void absentWithoutActuatorOnClasspath() {
        runner.withClassLoader(new FilteredClassLoader("org.springframework.boot.actuate"))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(IreeRuntime.class)
                        .doesNotHaveBean("ireeInfoContributor"));
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnContributor {
        @Bean
        IreeInfoContributor myContributor(IreeRuntime runtime) {
            return new IreeInfoContributor(runtime);
        }
    }
}
