package io.github.iree4j.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.autoconfigure.OverrideAutoConfiguration;
import org.springframework.boot.test.context.filter.annotation.TypeExcludeFilters;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.core.annotation.AliasFor;
import org.springframework.test.context.BootstrapWith;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/**
 * Test slice for the use of programs: the runtime, {@code InvocationService}, the {@code @IreeClient} interfaces,
 * batching and resilience as configured, and no other component unless imported by the test.
 *
 * <pre>{@code
 * @IreeTest
 * @Import(DigitReader.class)
 * class DigitReaderTests {
 *     @Test
 *     void readsTheMostProbableDigit(@Autowired FakePrograms programs, @Autowired DigitReader reader) {
 *         programs.program("digits", digits -> digits
 *             .function("classify", "(tensor<?x64xf32>) -> tensor<?x10xf32>")
 *             .returns(Tensor.of(new float[] {0, 0, 0, 1, 0, 0, 0, 0, 0, 0}, 1, 10)));
 *         assertThat(reader.read(picture)).isEqualTo(3);
 *     }
 * }
 * }</pre>
 *
 * <p>Programs are {@linkplain FakePrograms scripted}; with {@link #mode} {@link AutoConfigureIree.Mode#NATIVE} the
 * programs of {@code iree.modules} run on the configured devices. For tests of the whole application combine {@link
 * AutoConfigureIree} with {@code @SpringBootTest}.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@BootstrapWith(IreeTestContextBootstrapper.class)
@ExtendWith(SpringExtension.class)
@OverrideAutoConfiguration(enabled = false)
@TypeExcludeFilters(IreeTypeExcludeFilter.class)
@AutoConfigureIree
@ImportAutoConfiguration
public @interface IreeTest {
    /**
     * Properties of the environment.
     *
     * @return in the form {@code key=value}
     */
    String[] properties() default {};

    /**
     * The mode of execution.
     *
     * @return the mode; scripted by default
     */
    @AliasFor(annotation = AutoConfigureIree.class, attribute = "mode")
    AutoConfigureIree.Mode mode() default AutoConfigureIree.Mode.FAKE;

    /**
     * How the clock advances.
     *
     * @return the mode of the clock; automatic by default
     */
    @AliasFor(annotation = AutoConfigureIree.class, attribute = "clock")
    AutoConfigureIree.Clock clock() default AutoConfigureIree.Clock.AUTOMATIC;

    /**
     * A flight recording for the test to examine, replayed on the scheduler; {@code FlightRecording}, {@code
     * OperationGraph} and {@code Replay} are beans.
     *
     * @return a resource location: a path of the class path, for example {@code slow.iree4j}, or a location with a
     *     prefix, for example {@code file:recordings/slow.iree4j}; none by default
     */
    @AliasFor(annotation = AutoConfigureIree.class, attribute = "recording")
    String recording() default "";

    /**
     * Whether to exclude components outside the slice.
     *
     * @return true by default
     */
    boolean useDefaultFilters() default true;

    /**
     * Components to add.
     *
     * @return filters
     */
    Filter[] includeFilters() default {};

    /**
     * Components to exclude.
     *
     * @return filters
     */
    Filter[] excludeFilters() default {};

    /**
     * Auto-configurations to exclude.
     *
     * @return classes
     */
    @AliasFor(annotation = ImportAutoConfiguration.class, attribute = "exclude")
    Class<?>[] excludeAutoConfiguration() default {};
}
