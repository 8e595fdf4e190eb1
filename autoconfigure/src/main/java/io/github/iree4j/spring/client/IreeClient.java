package io.github.iree4j.spring.client;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * An interface whose methods are functions of a program. Those in the packages of the application become beans.
 *
 * <pre>{@code
 * @IreeClient("digits")
 * public interface Digits {
 *     float[][] classify(float[][] pixels);
 *
 *     @IreeFunction(value = "classify", deadline = "50ms")
 *     CompletableFuture<Results> classifyLater(Tensor pixels);
 * }
 * }</pre>
 *
 * <p><b>Arguments</b> are those of the function: tensors, arrays, numbers, and records whose components are, one after the other. A
 * {@link io.github.iree4j.CallOptions} among them is how the call is made, and no argument.
 *
 * <p><b>Results.</b> {@link io.github.iree4j.Results} and {@link io.github.iree4j.Tensor} stay on their device, are closed by the caller and
 * may be arguments of further calls without a copy. Arrays, nested as the tensor has dimensions or flat, numbers and booleans are copied. A
 * record has one result for each component. {@code void} drops them. A {@link java.util.concurrent.CompletableFuture}, or a {@code Mono}
 * where Reactor is there, of any of these comes at once.
 *
 * <p>A signature that is none of these stops the application when it starts.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface IreeClient {
    /**
     * The program.
     *
     * @return its name in {@code iree.modules}
     */
    String value();

    /**
     * The version of the program.
     *
     * @return the version; empty for the latest
     */
    String version() default "";
}
