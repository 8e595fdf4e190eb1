package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.TestModules;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** An unknown property is in the log, with the likely name of this release. */
class UnknownPropertiesTests {

    @TempDir
    private Path directory;

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

    @ParameterizedTest
    @CsvSource({
        "iree.cluster.enabled,           spring-boot-starter-iree-cluster",
        "iree.cluster.identity.machine,  spring-boot-starter-iree-cluster",
        "iree.openai.enabled,            spring-boot-starter-iree-ai",
        "iree.ai.chat.program,           spring-boot-starter-iree-ai"
    })
    void propertiesOfAMissingStarterNameTheStarter(String property, String starter) {
        assertThat(unknown(property))
                .containsExactly("property '%s' has no effect without the dependency io.github.iree4j:%s"
                        .formatted(property, starter));
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
    @CsvSource({
        "IREE_MODULES_ADDER_LOCATOIN,           iree.modules.*.location,            IREE_MODULES_ADDER_LOCATION",
        "IREE_MODULES_ADDER_WARM_PU_0_FUNCTION, iree.modules.*.warm-up[*].function, IREE_MODULES_ADDER_WARMUP_*_FUNCTION",
        "IREE_MODULES_MYMODEL_TIMOUT,           iree.modules.*.timeout,             IREE_MODULES_MYMODEL_TIMEOUT",
        "IREE_MODULES_MY_MODEL_TIMOUT,          iree.modules.*.timeout,             IREE_MODULES_MY_MODEL_TIMEOUT",
        "IREE_MODULES_ADDER_VERSIONS_2_LOCATON, iree.modules.*.versions.*.location, IREE_MODULES_ADDER_VERSIONS_*_LOCATION",
        "IREE_MODULES_YOUR_MODEL_LOCATION,      iree.modules.*.location,            IREE_MODULES_YOUR_LOCATION",
        "iree_modules_adder_loction,            iree.modules.*.location,            IREE_MODULES_ADDER_LOCATION"
    })
    @ExtendWith(OutputCaptureExtension.class)
    void aMisspelledVariableOfAModuleIsInTheLog(String variable, String likely, String correct, CapturedOutput output)
            throws Exception {
        withVariables(variable).run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .contains(
                        "environment variable '%s' names no property and has no effect; there is '%s', in the environment '%s'"
                                .formatted(variable, likely, correct));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "IREE_MODULES_ADDER_TIMEOUT",
                "IREE_MODULES_ADDER_WARMUP_0_FUNCTION",
                "IREE_MODULES_ADDER_WARM_UP_0_FUNCTION",
                "IREE_MODULES_ADDER_DEVICES_0",
                "IREE_MODULES_ADDER_BATCHING_MAX_DELAY",
                "IREE_MODULES_ADDER_PARAMETERS_A_SCOPE_OF_WORDS",
                "IREE_MODULES_MY_MODEL_TIMEOUT",
                "IREE_MODULESX_ADDER_LOCATOIN",
                "IREE_INVOCATION_TIMOUT"
            })
    @ExtendWith(OutputCaptureExtension.class)
    void aPossiblyForeignVariableIsNotInTheLog(String variable, CapturedOutput output) throws Exception {
        withVariables(variable, "IREE_MODULES_ADDER_LOCATOIN")
                .run(context -> assertThat(output)
                        .contains("'IREE_MODULES_ADDER_LOCATOIN' names no property")
                        .doesNotContain("'%s' names no property".formatted(variable)));
    }

    @Test
    void aModuleWithOnlyAMisspelledVariableFailsTheStart() throws Exception {
        withVariables("IREE_MODULES_SUMS_LOCATOIN")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(ModuleLocationMissingException.class)
                        .hasMessage("property 'iree.modules.sums.location' is not set"));
    }

    /** Other programs share the environment, such as a service of Kubernetes named {@code iree-modules}. */
    @ParameterizedTest
    @ValueSource(strings = {"IREE_MODULES_SERVICE_HOST", "IREE_MODULES_PORT_80_TCP_ADDR", "IREE_MODULES__"})
    void aVariableOfAnotherProgramFailsNoStart(String variable) throws Exception {
        withVariables(variable).run(context -> assertThat(context).hasNotFailed());
    }

    private ApplicationContextRunner withVariables(String... variables) throws Exception {
        Map<String, Object> values = Stream.of(variables).collect(Collectors.toMap(each -> each, _ -> "1s"));
        return new ApplicationContextRunner()
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .replace(
                                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                                new SystemEnvironmentPropertySource(
                                        StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, values)))
                .withConfiguration(AutoConfigurations.of(IreeAutoConfiguration.class))
                .withPropertyValues(
                        "iree.modules.adder.location=" + TestModules.adder(directory),
                        "iree.modules.adder.load=lazy",
                        "iree.modules.my-model.location=" + TestModules.adder(directory),
                        "iree.modules.my-model.load=lazy");
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
    void existingPropertiesAreNotInTheLog(String property) {
        assertThat(unknown(property)).isEmpty();
    }

    private static Collection<String> unknown(String property) {
        StandardEnvironment environment = new StandardEnvironment();
        environment.getPropertySources().addFirst(new MapPropertySource("given", Map.of(property, "1")));
        ConfigurationPropertySources.attach(environment);
        return new UnknownProperties(UnknownPropertiesTests.class.getClassLoader())
                .unknown(environment)
                .values();
    }
}
