package io.github.iree4j.spring.serving;

import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.spring.serving.ServedModels.Served;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An output of an inference: a tensor, or a primitive as a tensor with a single element.
 *
 * @param name of the output
 * @param datatype of the elements
 * @param tensor borrowed from the results, or on the heap
 * @param texts the tensor as texts, written instead of the tensor; null unless the datatype is {@link Datatype#BYTES}
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
            String name = ServedModels.name(declared, i, "output");
            if (request.wants(name)) {
                outputs.add(
                        of(name, tensor(name, results.get(i)), served.strings().contains(name), request));
            }
        }
        return outputs;
    }

    /** Checks the requested names before the call is made, so no unusable result is computed. */
    static void checkNames(InferenceRequest request, List<ValueDeclaration> declared) {
        List<String> names = ServedModels.names(declared, "output");
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
            case Integer number -> Tensor.ofInts(new int[] {number});
            case Long number -> Tensor.ofLongs(new long[] {number});
            case Float number -> Tensor.of(new float[] {number});
            case Double number -> Tensor.ofDoubles(new double[] {number});
            case null, default ->
                throw new IreeException(
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
            return new InferenceOutput(name, Datatype.BYTES, tensor, StringOutput.of(tensor), binary);
        }
        Datatype datatype = Datatype.of(tensor.elementType());
        if (datatype == null) {
            throw new IreeException(
                    StatusCode.UNIMPLEMENTED,
                    "output '%s' has element type %s, which the protocol does not define; omit it from 'outputs'"
                            .formatted(name, tensor.elementType()));
        }
        return new InferenceOutput(name, datatype, tensor, null, binary);
    }

    long[] shape() {
        return texts == null ? tensor.shape() : texts.shape();
    }

    /** Returns the size of outputs in binary, in bytes. */
    static long size(List<InferenceOutput> outputs) {
        return outputs.stream().mapToLong(InferenceOutput::size).sum();
    }

    /** Returns the size in binary, in bytes. */
    long size() {
        return texts == null ? tensor.byteSize() : texts.contents().length;
    }

    /**
     * Returns the outputs in host-visible memory, for callers writing the outputs immediately: a response that has
     * begun cannot report a device failure. Blocks until devices have sent the outputs.
     *
     * @return outputs borrowed from the results
     * @throws IreeException the cause when the device fails to send an output
     */
    static List<InferenceOutput> onHost(List<InferenceOutput> outputs) {
        return outputs.stream().map(each -> each.with(each.tensor.onHost())).toList();
    }

    /**
     * Returns the outputs on the heap, for responses whose client decides how long writing takes. Blocks until devices
     * have sent the outputs.
     *
     * @return outputs independent of the results
     * @throws IreeException the cause when the device fails to send an output
     */
    static List<InferenceOutput> onHeap(List<InferenceOutput> outputs) {
        return outputs.stream()
                .map(each -> each.texts == null ? each.with(each.tensor.copy()) : each)
                .toList();
    }

    private InferenceOutput with(Tensor other) {
        return new InferenceOutput(name, datatype, other, texts, binary);
    }

    /** Writes the output in binary. */
    void writeTo(OutputStream out) throws IOException {
        if (texts == null) {
            tensor.writeTo(out);
        } else {
            out.write(texts.contents());
        }
    }
}
