package io.github.iree4j.spring.serving;

import io.github.iree4j.spring.serving.OpenInference.ModelMetadata;
import io.github.iree4j.spring.serving.OpenInference.ServerMetadata;
import io.github.iree4j.spring.serving.OpenInference.TensorMetadata;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The messages of the protocol besides inference. */
final class GrpcMessages {

    private static final int MAX_NAMES = 1 << 16;

    private GrpcMessages() {}

    /**
     * The model named by a request.
     *
     * @param name the model's name; empty for requests without a name
     * @param version the model's version; null for any
     */
    record ModelName(String name, @Nullable String version) {

        /** Reads a request with a name and a version, in fields 1 and 2. */
        static ModelName read(InputStream in) throws IOException {
            ProtoReader message = new ProtoReader("request", in, MAX_NAMES);
            String name = "";
            String version = "";
            while (message.next()) {
                switch (message.field()) {
                    case 1 -> name = message.string();
                    case 2 -> version = message.string();
                    default -> message.skip();
                }
            }
            return new ModelName(name, version.isEmpty() ? null : version);
        }
    }

    /**
     * A request to load or unload a model.
     *
     * @param name the name of the model
     * @param parameters names of parameters
     */
    record RepositoryRequest(String name, List<String> parameters) {

        static RepositoryRequest read(InputStream in) throws IOException {
            ProtoReader message = new ProtoReader("request", in, MAX_NAMES);
            String name = "";
            List<String> parameters = new ArrayList<>();
            while (message.next()) {
                switch (message.field()) {
                    case 2 -> name = message.string();
                    case 3 -> parameters.add(GrpcParameter.read(message.bytes()).name());
                    default -> message.skip();
                }
            }
            return new RepositoryRequest(name, parameters);
        }
    }

    /** Reads a {@code RepositoryIndexRequest}; returns whether only ready models are requested. */
    static boolean onlyReady(InputStream in) throws IOException {
        ProtoReader message = new ProtoReader("request", in, MAX_NAMES);
        boolean ready = false;
        while (message.next()) {
            if (message.field() == 2) {
                ready = message.varint() != 0;
            } else {
                message.skip();
            }
        }
        return ready;
    }

    /** {@code RepositoryIndexResponse}. */
    static GrpcMessage index(List<RepositoryModels.Entry> entries) {
        ProtoWriter message = new ProtoWriter();
        for (RepositoryModels.Entry entry : entries) {
            message.message(
                    1,
                    model -> model.string(1, entry.name())
                            .string(2, entry.version())
                            .string(3, entry.state())
                            .string(4, entry.reason()));
        }
        return message(message);
    }

    /** A response without fields. */
    static GrpcMessage empty() {
        return new GrpcMessage();
    }

    /** {@code ServerLiveResponse}, {@code ServerReadyResponse} or {@code ModelReadyResponse}. */
    static GrpcMessage yes(boolean answer) {
        return message(new ProtoWriter().bool(1, answer));
    }

    /** {@code ServerMetadataResponse}. */
    static GrpcMessage server(ServerMetadata server) {
        ProtoWriter message = new ProtoWriter().string(1, server.name()).string(2, server.version());
        server.extensions().forEach(extension -> message.element(3, extension));
        return message(message);
    }

    /** {@code ModelMetadataResponse}. */
    static GrpcMessage model(ModelMetadata model) {
        ProtoWriter message = new ProtoWriter().string(1, model.name());
        model.versions().forEach(version -> message.element(2, version));
        message.string(3, model.platform());
        tensors(message, 4, model.inputs());
        tensors(message, 5, model.outputs());
        return message(message);
    }

    /** {@code ModelConfigResponse}. */
    static GrpcMessage configuration(ModelConfiguration configuration) {
        return message(new ProtoWriter().message(1, configuration::writeTo));
    }

    private static void tensors(ProtoWriter message, int field, List<TensorMetadata> tensors) {
        for (TensorMetadata each : tensors) {
            message.message(
                    field,
                    tensor -> tensor.string(1, each.name())
                            .string(2, each.datatype())
                            .packed(3, each.shape()));
        }
    }

    /** {@code ModelStreamInferResponse} with an answer. */
    static GrpcMessage inStream(GrpcMessage answer) {
        return new GrpcMessage()
                .add(new ProtoWriter().length(2, answer.size()).toByteArray())
                .add(answer);
    }

    /** {@code ModelStreamInferResponse} with a failure. */
    static GrpcMessage failure(Status status) {
        String text = status.getDescription();
        return message(
                new ProtoWriter().string(1, text == null ? status.getCode().toString() : text));
    }

    static GrpcMessage message(ProtoWriter message) {
        return new GrpcMessage().add(message.toByteArray());
    }
}
