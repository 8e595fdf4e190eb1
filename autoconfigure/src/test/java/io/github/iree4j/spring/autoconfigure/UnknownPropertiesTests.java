package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

/** A property that does not exist is in the log, with the likely name of this release. */
class UnknownPropertiesTests {

    @ParameterizedTest
    @CsvSource({
        "iree.invocation.timout,                 iree.invocation.timeout",
        "iree.invocaton.timeout,                 iree.invocation.timeout",
        "iree.modules.adder.locaton,             iree.modules.*.location",
        "iree.modules.adder.batching.maxdeley,   iree.modules.*.batching.max-delay",
        "iree.modules.adder.warm-up[0].functon,  iree.modules.*.warm-up[*].function",
        "iree.module.adder.location,             iree.modules.*.location",
        "iree.http.body-time-out.x,              iree.http.body-timeout",
        "iree.serving.max-concurrent-bodies,     iree.serving.max-concurrent-requests"
    })
    void misspelledPropertiesAreTold(String misspelled, String likely) {
        assertThat(unknown(misspelled))
                .containsExactly(
                        "property '%s' does not exist and has no effect; there is '%s'".formatted(misspelled, likely));
    }

    /** The next release will not know former names, so that advice never leads to one. */
    @ParameterizedTest
    @CsvSource({
        "iree.http.max-bodysize,                iree.http.max-request-size",
        "iree.http.max-tensorsize.x,            iree.http.max-request-size",
        "iree.devices.local.queue-cuont,        iree.advanced.devices.*.queue-count",
        "iree.pools.local.waiting.hosts,        iree.advanced.pools.*.waiting.host"
    })
    void aPropertyLikeAFormerOneIsToldTheNewName(String misspelled, String likely) {
        misspelledPropertiesAreTold(misspelled, likely);
    }

    static Stream<String> former() {
        return RenamedProperties.FORMER.stream().map(RenamedProperties.Former::name);
    }

    @ParameterizedTest
    @MethodSource("former")
    void noFormerNameIsProposed(String former) {
        assertThat(unknown(former.replace("*", "a") + "x"))
                .singleElement(STRING)
                .doesNotEndWith("'%s'".formatted(former));
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void aMisspelledPropertyIsInTheLog(CapturedOutput output) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(IreeAutoConfiguration.class))
                .withPropertyValues("iree.invocation.timout=1s")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).contains("property 'iree.invocation.timout' does not exist and has no effect");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "iree.enabled",
                "iree.watchdog.enabled",
                "iree.modules.adder.parameters.model[0]",
                "iree.modules.adder.parameters.model",
                "iree.modules.adder.devices",
                "iree.modules.adder.devices[3]",
                "iree.modules.adder.warmUp[0].inputs[1]",
                "iree.modules.adder.warm_up[0].function",
                "iree.modules[a.b].location",
                "iree.modules.adder.variants.encode.modules[0].sizes.batch",
                "iree.pools.local.quotas.adder",
                "iree.serving.functions.adder",
                "iree.http.MAX-inFlightSize",
                "ireex.y",
                "spring.iree"
            })
    void propertiesThatExistAreNot(String property) {
        assertThat(unknown(property)).isEmpty();
    }

    private static List<String> unknown(String property) {
        StandardEnvironment environment = new StandardEnvironment();
        environment.getPropertySources().addFirst(new MapPropertySource("given", Map.of(property, "1")));
        ConfigurationPropertySources.attach(environment);
        return new UnknownProperties(UnknownPropertiesTests.class.getClassLoader()).of(environment);
    }
}
