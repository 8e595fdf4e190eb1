package io.github.iree4j.spring.serving;

import io.github.iree4j.async.Deadline;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.spring.http.LimitedBody;
import io.github.iree4j.spring.serving.ServedModels.Served;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads a {@code ModelInferRequest}. Raw contents go from the transport's memory directly into the input on the heap,
 * unless the contents precede the description of the input; typed contents are decoded into the input.
 */
final class GrpcRequestReader {
    private static final int MAX_VALUES = 1024;

    private final ServedModels models;
    private final Duration wait;
    private final @Nullable Deadline client;
    private final ProtoReader message;
    private final LimitedBody body;
    private final List<GrpcInput> inputs = new ArrayList<>();
    /** Raw contents received before the input or the name of the model. */
    private final Map<Integer, byte[]> early = new HashMap<>();

    private final Map<String, @Nullable Boolean> outputs = new HashMap<>();
    private String model = "";
    private String version = "";
    private String id = "";
    private @Nullable Duration timeout;
    private @Nullable Deadline deadline; // of the timeout
    private int raw;
    private @Nullable Served served;
    private @Nullable RequestInputs tensors;

    /**
     * A request; must be closed.
     *
     * @param served the called function
     * @param inference the inputs
     * @param deadline the earlier of the deadlines of the client and of the timeout; null for none
     */
    record Request(
            Served served,
            InferenceRequest inference,
            @Nullable Deadline deadline) {}

    /**
     * Creates a reader of a request.
     *
     * @param models the models available to the request
     * @param wait the maximum wait for a model being loaded
     * @param client the deadline of the client; null for none
     * @param in the message
     * @param length an upper bound of the message's length in bytes
     * @param body is charged for memory besides the message's own
     */
    GrpcRequestReader(
            ServedModels models,
            Duration wait,
            @Nullable Deadline client,
            InputStream in,
            long length,
            LimitedBody body) {
        this.models = models;
        this.wait = wait;
        this.client = client;
        this.message = new ProtoReader("request", in, length);
        this.body = body;
    }

    /**
     * Reads the request.
     *
     * @throws IreeException INVALID_ARGUMENT and others when the request is invalid
     */
    Request read() throws IOException {
        try {
            while (message.next()) {
                switch (message.field()) {
                    case 1 -> model = onlyName(message.string());
                    case 2 -> version = message.string();
                    case 3 -> id = message.string();
                    case 4 -> readParameter(message.bytes());
                    case 5 -> {
                        checkCount("inputs", inputs.size());
                        inputs.add(GrpcInput.read(message.bytes()));
                    }
                    case 6 -> readOutput(message.bytes());
                    case 7 -> readRaw();
                    default -> message.skip();
                }
            }
            RequestInputs all = complete();
            return new Request(
                    served(),
                    new InferenceRequest(id.isEmpty() ? null : id, all.take(), outputs, true, timeout),
                    Deadline.earliest(client, deadline));
        } finally {
            if (tensors != null) {
                tensors.close();
            }
        }
    }

    private String onlyName(String name) {
        if (served != null && !name.equals(model)) {
            throw message.invalid("names two models");
        }
        return name;
    }

    private static void checkCount(String what, int count) {
        if (count == MAX_VALUES) {
            throw InferenceRequest.invalid("'%s' has more than %d elements".formatted(what, MAX_VALUES));
        }
    }

    private Served served() {
        Served found = served;
        if (found == null) {
            Deadline own = Deadline.earliest(client, deadline);
            Duration left = own == null ? wait : own.left();
            found = models.find(model, version.isEmpty() ? null : version, left.compareTo(wait) < 0 ? left : wait);
            served = found;
        }
        return found;
    }

    private RequestInputs tensors() {
        RequestInputs all = tensors;
        if (all == null) {
            all = new RequestInputs(
                    served().function().program(), served().function().arguments());
            tensors = all;
        }
        return all;
    }

    // Contents.

    private void readRaw() throws IOException {
        int index = raw++;
        if (index >= inputs.size() || model.isEmpty()) {
            checkCount("raw_input_contents", early.size());
            early.put(index, message.bytes());
        } else {
            long size = message.length();
            upload(inputs.get(index), size, message.stream(size));
        }
    }

    private void upload(GrpcInput input, long size, InputStream contents) throws IOException {
        if (input.hasContents()) {
            throw InferenceRequest.invalid("input '%s' has both 'contents' and 'raw_input_contents'"
                    .formatted(Datatype.shortened(input.name())));
        }
        int index = tensors().indexOf(input.name());
        tensors().checkSize(index, input.datatype(), input.shape(), size, "'raw_input_contents' of size");
        tensors().read(index, input.datatype(), input.shape(), size, contents, body);
    }

    private RequestInputs complete() throws IOException {
        RequestInputs all = tensors();
        if (raw > 0 && raw != inputs.size()) {
            throw InferenceRequest.invalid(
                    "'raw_input_contents' has %d elements, but there are %d inputs".formatted(raw, inputs.size()));
        }
        for (int i = 0; i < inputs.size(); i++) {
            byte[] contents = early.remove(i);
            if (contents != null) {
                upload(inputs.get(i), contents.length, new ByteArrayInputStream(contents));
            } else if (raw == 0) {
                inputs.get(i).upload(all, all.indexOf(inputs.get(i).name()), body);
            }
        }
        return all;
    }

    // Outputs and parameters.

    private void readOutput(byte[] bytes) throws IOException {
        checkCount("outputs", outputs.size());
        ProtoReader output = new ProtoReader("output", new ByteArrayInputStream(bytes), bytes.length);
        String name = "";
        while (output.next()) {
            switch (output.field()) {
                case 1 -> name = output.string();
                case 2 ->
                    refuse(GrpcParameter.read(output.bytes()), "outputs", "classification", "shared_memory_region");
                default -> output.skip();
            }
        }
        if (name.isEmpty()) {
            throw InferenceRequest.invalid("an element of 'outputs' has no 'name'");
        }
        outputs.put(name, null);
    }

    /** Rejects parameters for unsupported operations. */
    static void refuse(GrpcParameter parameter, String where, String... refused) {
        if (Arrays.asList(refused).contains(parameter.name())) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "parameter '%s' of %s is not supported".formatted(parameter.name(), where));
        }
    }

    private void readParameter(byte[] bytes) throws IOException {
        GrpcParameter parameter = GrpcParameter.read(bytes);
        if (parameter.name().equals("timeout")) {
            timeout = InferenceRequest.timeout(parameter.number());
            deadline = timeout == null ? null : Deadline.after(timeout);
        }
    }

    /** Reads dimensions of a shape, packed or a single dimension, behind the dimensions read before. */
    static long[] dimensions(ProtoReader in, long[] before) throws IOException {
        if (in.type() != ProtoReader.BYTES) {
            return add(before, in.varint());
        }
        byte[] packed = in.bytes();
        ByteArrayInputStream left = new ByteArrayInputStream(packed);
        ProtoReader dimensions = new ProtoReader("shape", left, packed.length);
        long[] shape = before;
        while (dimensions.position() < packed.length) {
            shape = add(shape, dimensions.number());
        }
        return shape;
    }

    private static long[] add(long[] shape, long dimension) {
        if (dimension < 0) {
            throw InferenceRequest.invalid(
                    "dimension %d of 'shape' must be an integer, at least 0".formatted(shape.length));
        }
        if (shape.length == Shape.MAXIMUM_RANK) {
            throw InferenceRequest.invalid("'shape' has more than %d dimensions".formatted(shape.length));
        }
        long[] longer = Arrays.copyOf(shape, shape.length + 1);
        longer[shape.length] = dimension;
        return longer;
    }
}
