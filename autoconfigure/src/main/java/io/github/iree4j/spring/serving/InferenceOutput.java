package io.github.iree4j.spring.serving;

import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.spring.serving.ServedModels.Served;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * An output of an inference: a tensor, or a primitive as a tensor with a single element.
 *
 * @param name of the output
 * @param datatype of the elements
 * @param tensor borrowed from the results, or on the heap
 * @param texts the tensor as texts, written instead of the tensor; null before the output is on the host, and unless the
 *     datatype is {@link Datatype#BYTES}
 * @param binary whether the output is requested in binary
 */
record InferenceOutput(
        String name,
        Datatype datatype,
        Tensor tensor,
        @Nullable StringOutput texts,
        boolean binary) {

    /**
     * Returns the requested outputs of a call; all requested outputs must {@linkplain #checkNames exist}.
     *
     * @param results borrowed for the lifetime of the outputs
     * @throws IreeException UNIMPLEMENTED for results not expressible in the protocol
     */
    static List<InferenceOutput> of(Served served, InferenceRequest request, Results results) {
        List<ValueDeclaration> declared = served.function().results();
        List<InferenceOutput> outputs = new ArrayList<>();
        for (int i = 0; i < declared.size(); i++) {
            String name = ValueDeclaration.name(declared, i, "output");
            if (request.wants(name)) {
                outputs.add(
                        of(name, tensor(name, results.get(i)), served.strings().contains(name), request));
            }
        }
        return outputs;
    }

    /** Checks the requested names before the call is made, so no unusable result is computed. */
    static void checkNames(InferenceRequest request, List<ValueDeclaration> declared) {
        List<String> names = ValueDeclaration.names(declared, "output");
        for (String wanted : request.outputs().keySet()) {
            if (!names.contains(wanted)) {
                throw InferenceRequest.invalid(
                        "there is no output '%s'; the outputs are %s".formatted(Datatype.shortened(wanted), names));
            }
        }
    }

    private static Tensor tensor(String name, @Nullable Object value) {
        return switch (value) {
            case Tensor own -> own;
            case Integer number -> Tensor.of(new int[] {number});
            case Long number -> Tensor.of(new long[] {number});
            case Float number -> Tensor.of(new float[] {number});
            case Double number -> Tensor.of(new double[] {number});
            case null, default ->
                throw IreeException.of(
                        StatusCode.UNIMPLEMENTED,
                        "output '%s' is not a tensor but %s; omit it from 'outputs'"
                                .formatted(
                                        name,
                                        value == null
                                                ? "a null reference"
                                                : "a " + value.getClass().getSimpleName()));
        };
    }

    private static InferenceOutput of(String name, Tensor tensor, boolean string, InferenceRequest request) {
        boolean binary = request.wantsBinary(name);
        if (string && StringElements.canHold(tensor.elementType())) {
            return new InferenceOutput(name, Datatype.BYTES, tensor, null, binary);
        }
        Datatype datatype = Datatype.of(tensor.elementType());
        if (datatype == null) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "output '%s' has element type %s, which the protocol does not define; omit it from 'outputs'"
                            .formatted(name, tensor.elementType()));
        }
        return new InferenceOutput(name, datatype, tensor, null, binary);
    }

    Shape shape() {
        return texts == null ? tensor.shape() : texts.shape();
    }

    /** Returns the maximum memory of outputs on the heap, and the maximum size in binary, in bytes. */
    static long most(List<InferenceOutput> outputs) {
        return outputs.stream()
                .mapToLong(each -> each.isText() ? StringOutput.most(each.tensor) : each.tensor.byteSize())
                .sum();
    }

    /** Returns the memory of the texts among outputs, in bytes: texts {@linkplain #onHost on the host} are copies. */
    static long ofTexts(List<InferenceOutput> outputs) {
        return outputs.stream()
                .filter(InferenceOutput::isText)
                .mapToLong(each -> each.tensor.byteSize())
                .sum();
    }

    private boolean isText() {
        return datatype == Datatype.BYTES;
    }

    /** Returns the size in binary, in bytes, of an output on the host. */
    long size() {
        return texts == null ? tensor.byteSize() : texts.size();
    }

    /**
     * Returns the outputs in host-visible memory, for callers writing the outputs immediately: a response that has
     * begun cannot report a device failure. Blocks until devices have sent the outputs. Texts are copied to the heap.
     *
     * @return outputs borrowed from the results
     * @throws IreeException the cause when the device fails to send an output
     */
    static List<InferenceOutput> onHost(List<InferenceOutput> outputs) {
        return outputs.stream().map(each -> each.fetched(Tensor::onHost)).toList();
    }

    /**
     * Returns the outputs on the heap, for responses whose client decides how long writing takes. Blocks until devices
     * have sent the outputs.
     *
     * @return outputs independent of the results
     * @throws IreeException the cause when the device fails to send an output; INVALID_ARGUMENT for texts that JSON
     *     cannot express
     */
    static List<InferenceOutput> onHeap(List<InferenceOutput> outputs) {
        List<InferenceOutput> fetched =
                outputs.stream().map(each -> each.fetched(Tensor::copyToHost)).toList();
        for (InferenceOutput each : fetched) {
            if (each.texts != null && !each.binary) {
                each.texts.requireUtf8(each.name);
            }
        }
        return fetched;
    }

    private InferenceOutput fetched(UnaryOperator<Tensor> fetch) {
        return isText()
                ? new InferenceOutput(name, datatype, tensor, StringOutput.of(tensor), binary)
                : new InferenceOutput(name, datatype, fetch.apply(tensor), null, binary);
    }

    /** Writes the output in binary. */
    void writeTo(OutputStream out) throws IOException {
        if (texts == null) {
            tensor.writeTo(out);
        } else {
            texts.writeTo(out);
        }
    }
}
