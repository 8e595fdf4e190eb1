package io.github.iree4j.spring.serving;

import io.github.iree4j.Program;
import io.github.iree4j.Tensor;
import io.github.iree4j.TensorContents;
import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.spring.http.LimitedBody;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;

/**
 * The inputs of a request during reading, on the heap until the call is admitted to device memory. Closing frees the
 * inputs unless the request is {@linkplain #take() complete}.
 */
final class RequestInputs implements AutoCloseable {
    private final Program program;
    private final List<ValueDeclaration> arguments;
    private final @Nullable Tensor[] tensors;
    private final boolean[] named;
    private boolean taken;

    /**
     * Creates the inputs of a call.
     *
     * @param program the program whose device receives the inputs
     * @param arguments the arguments of the function
     */
    RequestInputs(Program program, List<ValueDeclaration> arguments) {
        this.program = program;
        this.arguments = arguments;
        this.tensors = new Tensor[arguments.size()];
        this.named = new boolean[arguments.size()];
    }

    List<String> names() {
        return ValueDeclaration.names(arguments, "input");
    }

    /** Returns the index of the argument of the given name; no other input may have the name. */
    int indexOf(String name) {
        int index = names().indexOf(name);
        if (index < 0) {
            throw InferenceRequest.invalid(
                    "there is no input '%s'; the inputs are %s".formatted(Datatype.shortened(name), names()));
        }
        if (named[index]) {
            throw InferenceRequest.invalid("input '%s' is duplicated".formatted(name));
        }
        named[index] = true;
        return index;
    }

    ValueDeclaration argument(int index) {
        return arguments.get(index);
    }

    /** Returns a reader of the texts of an argument. */
    StringElements strings(int index, Shape shape, LimitedBody body) {
        return new StringElements(ValueDeclaration.name(arguments, index, "input"), arguments.get(index), shape, body);
    }

    /**
     * Checks the declared size of an input, in bytes.
     *
     * @param what names the size in messages
     */
    void checkSize(int index, Datatype datatype, Shape shape, long size, String what) {
        if (datatype == Datatype.BYTES) {
            return; // each text has an explicit length
        }
        long expected = datatype.elementType().byteSize(shape.elementCount());
        if (size != expected) {
            throw InferenceRequest.invalid("input '%s' has %s %d, but %s of shape %s takes %d bytes"
                    .formatted(
                            ValueDeclaration.name(arguments, index, "input"),
                            what,
                            size,
                            datatype,
                            Arrays.toString(shape.dimensions()),
                            expected));
        }
    }

    /**
     * Reads an input from elements in memory layout, or from texts preceded by lengths.
     *
     * @param size size of the elements in bytes, already checked
     * @param in the elements
     * @param body is charged for texts; the caller charges other elements
     */
    void read(int index, Datatype datatype, Shape shape, long size, InputStream in, LimitedBody body)
            throws IOException {
        if (datatype == Datatype.BYTES) {
            StringElements strings = strings(index, shape, body);
            strings.read(in, size);
            upload(index, strings);
        } else {
            tensors[index] = program.receive(datatype.elementType(), shape, in);
        }
    }

    /** Reads an input from JSON; the parser is at the bracket before the elements. */
    void readJson(int index, String shown, Datatype datatype, Shape shape, JsonParser json, LimitedBody body)
            throws IOException {
        StringElements strings = datatype == Datatype.BYTES ? strings(index, shape, body) : null;
        JsonElements elements = new JsonElements(json, shown, datatype, shape, strings, body);
        elements.read();
        if (strings != null) {
            upload(index, strings);
            return;
        }
        body.charge(datatype.elementType().byteSize(shape.elementCount()));
        upload(index, datatype, shape, elements::writeTo);
        elements.release();
    }

    /** Uploads texts. */
    void upload(int index, StringElements strings) throws IOException {
        tensors[index] = strings.upload(program);
    }

    /** Uploads elements written by the given contents. */
    void upload(int index, Datatype datatype, Shape shape, TensorContents contents) throws IOException {
        tensors[index] = program.receive(datatype.elementType(), shape, contents);
    }

    /** Returns all inputs, in the order of the arguments; the caller closes the inputs. */
    List<Tensor> take() {
        for (int i = 0; i < tensors.length; i++) {
            if (tensors[i] == null) {
                throw InferenceRequest.invalid("input '%s' (%s) is missing; the inputs are %s"
                        .formatted(
                                ValueDeclaration.name(arguments, i, "input"),
                                arguments.get(i).type(),
                                names()));
            }
        }
        taken = true;
        return List.of(Arrays.copyOf(tensors, tensors.length, Tensor[].class));
    }

    @Override
    public void close() {
        for (Tensor tensor : tensors) {
            if (tensor != null && !taken) {
                tensor.close();
            }
        }
    }
}
