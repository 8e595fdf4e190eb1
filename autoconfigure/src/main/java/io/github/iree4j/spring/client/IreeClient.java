package io.github.iree4j.spring.client;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks an interface whose methods call the functions of a program. Interfaces in the packages of the application
 * become beans.
 *
 * <pre>{@code
 * @IreeClient("digits")
 * public interface Digits {
 *     float[][] classify(float[][] pixels);
 *
 *     @IreeFunction(value = "classify", timeout = "50ms")
 *     CompletableFuture<Results> classifyLater(Tensor pixels);
 * }
 * }</pre>
 *
 * <p><b>Arguments</b> are the arguments of the function: tensors, arrays, numbers, and records of these, expanded in
 * component order. A {@link io.github.iree4j.CallOptions} parameter sets the options of the call and is not an argument.
 *
 * <p><b>Results.</b> {@link io.github.iree4j.Results} and {@link io.github.iree4j.Tensor} stay on their device, are
 * closed by the caller and may be arguments of further calls without a copy. Arrays (flat, or nested by dimension),
 * numbers and booleans are copied. A record has one component for each result. {@code void} discards the results. An
 * {@link io.github.iree4j.async.IreeFuture}, a {@link java.util.concurrent.CompletableFuture} or a
 * {@link java.util.concurrent.CompletionStage} of any of these, or a {@code Mono} when Reactor is present, makes the
 * method return immediately. So does a {@link io.github.iree4j.Submission} of {@code Results}, of a tensor or of a
 * record of tensors, with the fence at which the contents are ready.
 *
 * <p><b>Checks.</b> Each client is created when the application starts, also where nothing uses the client, and with lazy
 * initialization. Startup fails for an unsupported signature, an unknown program or version, and a program without the
 * functions, or with other numbers or declared types of arguments or results. A program loaded later, or again, is
 * checked while loading. A client without a version is checked against the latest known version only. In scripted tests,
 * programs are not checked.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface IreeClient {
    /**
     * The program.
     *
     * @return the program's name in {@code iree.modules}; may contain placeholders such as {@code ${my.model}}
     */
    String value();

    /**
     * The version of the program.
     *
     * @return the version, which may contain placeholders; empty for the latest
     */
    String version() default "";
}
