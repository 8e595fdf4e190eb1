package io.github.iree4j.spring.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.CallOptions;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.client.IreeClientAutoConfiguration;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Unmatched clients and programs, and placeholders in the annotations of clients. */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(300)
class IreeClientChecksTests {

    record Sum(int value) {}

    record Two(int one, int other) {}

    @IreeClient("adder")
    interface Adder {
        int add(int a, int b);

        @IreeFunction("add")
        CompletableFuture<Sum> later(Two both, CallOptions options);

        @IreeFunction("add")
        Results results(int a, int b);

        void refuse();
    }

    @IreeClient("nowhere")
    interface Nowhere {
        int add(int a, int b);
    }

    @IreeClient("adder")
    interface Subtracting {
        int subtract(int a, int b);
    }

    @IreeClient("adder")
    interface Three {
        int add(int a, Two others);
    }

    @IreeClient("adder")
    interface Pair {
        CompletableFuture<Two> add(int a, int b);
    }

    @IreeClient("adder")
    interface Floating {
        int add(Rate both);
    }

    record Rate(int whole, float part) {}

    @IreeClient("adder")
    interface ArrayInput {
        int add(int[] a, int b);
    }

    @IreeClient("adder")
    interface TensorResult {
        CompletableFuture<Tensor> add(int a, int b);
    }

    @IreeClient("floats")
    interface Fitting {
        float[] add(float[] a, double[] b);

        @IreeFunction("add")
        Tensor tensor(Tensor a, Object b);

        @IreeFunction("add")
        double[] wide(float[][] a, float[] b);
    }

    @IreeClient("floats")
    interface IntegerInput {
        float[] add(float[] a, int[] b);
    }

    @IreeClient("floats")
    interface ScalarInput {
        float[] add(float a, float[] b);
    }

    @IreeClient("floats")
    interface IntegerResult {
        int[] add(float[] a, float[] b);
    }

    @IreeClient("floats")
    interface NestedResult {
        float[][] add(float[] a, float[] b);
    }

    @IreeClient("floats")
    interface ScalarResult {
        float add(float[] a, float[] b);
    }

    record Node(int value, Node next) {}

    record Left(Right right) {}

    record Right(Left left) {}

    record Listed(int value, List<Listed> next) {}

    record Possible(int value, Optional<Possible> next) {}

    record Bounded<T extends Bounded<T>>(T next) {}

    @IreeClient("adder")
    interface Recursive {
        int add(Node nodes);
    }

    @IreeClient("adder")
    interface Mutual {
        int add(int a, Left left);
    }

    @IreeClient("adder")
    interface OfLists {
        int add(Listed nodes);
    }

    @IreeClient("adder")
    interface OfOptionals {
        int add(Possible nodes);
    }

    @IreeClient("adder")
    interface OfBounds {
        int add(Bounded<?> nodes);
    }

    @IreeClient("adder")
    interface RecursiveResult {
        Node add(int a, int b);
    }

    @IreeClient("adder")
    interface ListedResult {
        CompletableFuture<Listed> add(int a, int b);
    }

    @IreeClient("adder")
    interface Soon {
        @IreeFunction(timeout = "soon")
        int add(int a, int b);
    }

    @IreeClient(value = "${own.model:adder}", version = "${own.version:}")
    interface Configured {
        @IreeFunction(value = "${own.function}", timeout = "${own.timeout:2m}")
        int sum(int a, int b);
    }

    @IreeClient(value = "adder", version = "1")
    interface Doubling {
        int main(int a);
    }

    @IreeClient(value = "adder", version = "1")
    interface AddingOne {
        int add(int a, int b);
    }

    @IreeClient(value = "adder", version = "7")
    interface Seventh {
        int add(int a, int b);
    }

    @TempDir
    private Path directory;

    private ApplicationContextRunner runner(Class<?> client) throws Exception {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        PropertyPlaceholderAutoConfiguration.class,
                        IreeAutoConfiguration.class,
                        IreeClientAutoConfiguration.class))
                .withBean("client", IreeClientFactoryBean.class, client)
                .withPropertyValues("iree.modules.adder.location=" + TestModules.adder(directory));
    }

    @Test
    void aMatchingClientIsCreatedBeforeAndAfterItsProgramIsLoaded() throws Exception {
        for (String load : List.of("eager", "lazy")) {
            runner(Adder.class)
                    .withPropertyValues("iree.modules.adder.load=" + load)
                    .run(context -> {
                        Adder adder = context.getBean(Adder.class);
                        assertThat(adder.add(1, 2)).isEqualTo(3);
                        assertThat(adder.later(new Two(3, 4), CallOptions.DEFAULTS)
                                        .join())
                                .isEqualTo(new Sum(7));
                    });
        }
    }

    static List<List<Object>> misfits() {
        String method = "method '%s' of @IreeClient '" + IreeClientChecksTests.class.getName() + "$%s' ";
        return List.of(
                List.of(Nowhere.class, "calls program 'nowhere', which does not exist; there are [adder]"),
                List.of(
                        Subtracting.class,
                        method.formatted("subtract", "Subtracting")
                                + "calls 'adder.subtract', and the program has no such function; it has [add, refuse]"),
                List.of(
                        Three.class,
                        method.formatted("add", "Three") + "passes 3 values, and function 'adder.add' takes 2"),
                List.of(
                        Pair.class,
                        method.formatted("add", "Pair") + "returns 2 values, and function 'adder.add' returns 1"),
                List.of(
                        Soon.class,
                        method.formatted("add", "Soon")
                                + "cannot be mapped to a function: 'soon' is not a valid duration"),
                List.of(Configured.class, "Could not resolve placeholder 'own.function'"));
    }

    static List<List<Object>> recursions() {
        String within = IreeClientChecksTests.class.getName() + "$";
        String itself = "record '" + within + "%s' has itself as a component of record '" + within + "%s'";
        return List.of(
                List.of(Recursive.class, itself.formatted("Node", "Node")),
                List.of(Mutual.class, itself.formatted("Left", "Right")),
                List.of(OfBounds.class, itself.formatted("Bounded", "Bounded")),
                List.of(OfLists.class, "an argument of type java.util.List<%sListed> is not".formatted(within)),
                List.of(
                        OfOptionals.class,
                        "an argument of type java.util.Optional<%sPossible> is not".formatted(within)),
                List.of(RecursiveResult.class, "a result of type %sNode is not".formatted(within)),
                List.of(ListedResult.class, "a result of type java.util.List<%sListed> is not".formatted(within)));
    }

    @ParameterizedTest
    @MethodSource("recursions")
    void aClientWithARecordOfItselfIsRefusedByNameOfMethodAndRecord(List<Object> recursion) throws Exception {
        Class<?> client = (Class<?>) recursion.getFirst();
        runner(client)
                .run(context -> refused(context)
                        .hasMessageStartingWith("method 'add' of @IreeClient '%s' cannot be mapped to a function: "
                                .formatted(client.getName()))
                        .hasMessageContaining((String) recursion.getLast()));
    }

    static List<List<Object>> types() {
        return List.of(
                List.of(Floating.class, "passes float as argument 1, and function 'adder.add' takes i32"),
                List.of(ArrayInput.class, "passes int[] as argument 0, and function 'adder.add' takes i32"),
                List.of(TensorResult.class, "returns Tensor as result 0, and function 'adder.add' returns i32"),
                List.of(
                        IntegerInput.class,
                        "passes int[] as argument 1, and function 'floats.add' takes tensor<4xf32>"),
                List.of(ScalarInput.class, "passes float as argument 0, and function 'floats.add' takes tensor<4xf32>"),
                List.of(
                        IntegerResult.class,
                        "returns int[] as result 0, and function 'floats.add' returns tensor<4xf32>"),
                List.of(
                        NestedResult.class,
                        "returns float[][] as result 0, and function 'floats.add' returns tensor<4xf32>"),
                List.of(
                        ScalarResult.class,
                        "returns float as result 0, and function 'floats.add' returns tensor<4xf32>"));
    }

    @ParameterizedTest
    @MethodSource("types")
    void aClientOfOtherTypesThanDeclaredFailsTheStart(List<Object> misfit) throws Exception {
        runner((Class<?>) misfit.getFirst())
                .withPropertyValues("iree.modules.floats.location=" + TestModules.fixture("3.11.0/cpu/add.vmfb"))
                .run(context -> refused(context).hasMessageContaining((String) misfit.getLast()));
    }

    @Test
    void aClientOfConvertibleTypesIsCreated() throws Exception {
        runner(Fitting.class)
                .withPropertyValues("iree.modules.floats.location=" + TestModules.fixture("3.11.0/cpu/add.vmfb"))
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @MethodSource("misfits")
    void aMismatchedClientFailsTheStartAlsoIfUnused(List<Object> misfit) throws Exception {
        ApplicationContextRunner runner = runner((Class<?>) misfit.getFirst());
        runner.run(context -> refused(context).hasMessageContaining((String) misfit.getLast()));
        runner.withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .run(context -> refused(context).hasMessageContaining((String) misfit.getLast()));
    }

    private static AbstractThrowableAssert<?, ? extends Throwable> refused(AssertableApplicationContext context) {
        return assertThat(context).getFailure().cause().isInstanceOf(IreeClientException.class);
    }

    private ApplicationContextRunner versions(Class<?> client, String load) throws Exception {
        return runner(client)
                .withPropertyValues(
                        "iree.modules.adder.version=2",
                        "iree.modules.adder.versions.1.location=" + TestModules.twofold(directory),
                        "iree.modules.adder.load=" + load);
    }

    @ParameterizedTest
    @ValueSource(strings = {"eager", "lazy"})
    void aVersionIsRefusedOnlyByItsClients(String load) throws Exception {
        versions(Adder.class, load)
                .withBean("pinned", IreeClientFactoryBean.class, Doubling.class)
                .run(context -> {
                    Adder latest = context.getBean(Adder.class);
                    assertThat(context.getBean(Doubling.class).main(4)).isEqualTo(8);
                    assertThat(context.getBean(Programs.class)
                                    .load("adder", "1")
                                    .source()
                                    .version())
                            .isEqualTo("1");
                    context.getBean(Programs.class).load("adder", "2");
                    assertThat(latest.add(1, 2)).isEqualTo(3);
                    Files.copy(
                            TestModules.twofold(directory),
                            directory.resolve("adder.vmfb"),
                            StandardCopyOption.REPLACE_EXISTING);
                    assertThatExceptionOfType(ProgramLoadException.class)
                            .isThrownBy(() -> context.getBean(Programs.class).load("adder", "2"))
                            .withMessageContaining("calls 'adder.add', and the program has no such function");
                });
    }

    @Test
    void aClientOfAVersionIsCheckedAgainstItsVersion() throws Exception {
        versions(AddingOne.class, "eager")
                .run(context -> refused(context)
                        .hasMessageContaining("calls 'adder.add', and the program has no such function; it has [main"));
        versions(Seventh.class, "eager")
                .run(context -> refused(context)
                        .hasMessageContaining(
                                "calls version '7' of program 'adder', which does not exist; there are [2, 1]"));
    }

    @Test
    void anUncreatedClientRefusesNoProgram() throws Exception {
        runner(Adder.class).run(context -> {
            IreeClientFactory factory = context.getBean(IreeClientFactory.class);
            assertThatException().isThrownBy(() -> factory.create(Subtracting.class));
            Programs programs = context.getBean(Programs.class);
            assertThat(programs.find("adder")).isPresent().get().isNotSameAs(programs.load("adder", null));
        });
    }

    @Test
    void aProgramMismatchingItsClientsIsNotLoaded() throws Exception {
        Path module = Files.copy(TestModules.adder(directory), directory.resolve("replaced.vmfb"));
        runner(Adder.class)
                .withPropertyValues("iree.modules.adder.location=" + module)
                .run(context -> {
                    Adder adder = context.getBean(Adder.class);
                    Files.copy(TestModules.twofold(directory), module, StandardCopyOption.REPLACE_EXISTING);
                    assertThatExceptionOfType(ProgramLoadException.class)
                            .isThrownBy(() -> context.getBean(Programs.class).load("adder", null))
                            .havingCause()
                            .isInstanceOf(IreeClientException.class);
                    assertThat(adder.add(1, 2)).as("the program before stays").isEqualTo(3);
                });
    }

    @Test
    void placeholdersAreResolved() throws Exception {
        runner(Configured.class)
                .withPropertyValues("own.function=add")
                .run(context -> assertThat(context.getBean(Configured.class))
                        .hasToString("client of program 'adder' (Configured)")
                        .satisfies(client -> assertThat(client.sum(1, 2)).isEqualTo(3)));
        runner(Configured.class)
                .withPropertyValues("own.function=add", "own.model=other")
                .run(context -> refused(context).hasMessageContaining("calls program 'other', which does not exist"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anApplicationWithAClientWithoutAProgramDoesNotStart(boolean lazy, CapturedOutput output) {
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        application.setLazyInitialization(lazy);
        assertThatException().isThrownBy(application::run);
        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("@IreeClient '" + Nowhere.class.getName() + "' calls program 'nowhere', which does not exist")
                .contains("Set 'iree.modules.nowhere.location', or correct the name in the annotation.");
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        PropertyPlaceholderAutoConfiguration.class,
        IreeAutoConfiguration.class,
        IreeClientAutoConfiguration.class
    })
    static class Application {
        @Bean
        static IreeClientFactoryBean<Nowhere> nowhere() {
            return new IreeClientFactoryBean<>(Nowhere.class);
        }
    }
}
