package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assertions;

/** A client with messages encoded by Protocol Buffers' own library. */
final class GrpcClient {

    static final Marshaller<byte[]> BYTES = new Marshaller<>() {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };

    /** The number of bytes that the server may send before any read. */
    private static final int WINDOW = 1 << 16;

    private static final FileDescriptor FILE = new InferenceSchema().getFileDescriptor();

    private final ManagedChannel channel;
    private final Channel calls;

    GrpcClient(int port) {
        this(NettyChannelBuilder.forAddress("localhost", port, InsecureChannelCredentials.create())
                .maxInboundMessageSize(Integer.MAX_VALUE)
                .flowControlWindow(WINDOW)
                .build());
    }

    private GrpcClient(ManagedChannel channel) {
        this(channel, channel);
    }

    private GrpcClient(ManagedChannel channel, Channel calls) {
        this.channel = channel;
        this.calls = calls;
    }

    /** The same client, with calls seen by an interceptor. */
    GrpcClient with(ClientInterceptor interceptor) {
        return new GrpcClient(channel, ClientInterceptors.intercept(channel, interceptor));
    }

    ManagedChannel channel() {
        return channel;
    }

    void close() throws InterruptedException {
        channel.shutdownNow();
        assertThat(channel.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
    }

    static MethodDescriptor<byte[], byte[]> method(String name) {
        return MethodDescriptor.newBuilder(BYTES, BYTES)
                .setType(name.equals("ModelStreamInfer") ? MethodType.BIDI_STREAMING : MethodType.UNARY)
                .setFullMethodName("inference.GRPCInferenceService/" + name)
                .build();
    }

    // Messages.

    static DynamicMessage.Builder message(String type, Object... fields) {
        Descriptor descriptor = FILE.findMessageTypeByName(type);
        DynamicMessage.Builder message = DynamicMessage.newBuilder(descriptor);
        for (int i = 0; i < fields.length; i += 2) {
            FieldDescriptor field = descriptor.findFieldByName((String) fields[i]);
            if (fields[i + 1] instanceof Collection<?> values) {
                values.forEach(value -> message.addRepeatedField(field, value));
            } else if (field.isRepeated()) {
                message.addRepeatedField(field, fields[i + 1]);
            } else {
                message.setField(field, fields[i + 1]);
            }
        }
        return message;
    }

    static Object get(DynamicMessage message, String field) {
        return message.getField(message.getDescriptorForType().findFieldByName(field));
    }

    @SuppressWarnings("unchecked")
    static <T> List<T> all(DynamicMessage message, String field) {
        return (List<T>) get(message, field);
    }

    static DynamicMessage parse(String type, byte[] bytes) {
        try {
            return DynamicMessage.parseFrom(FILE.findMessageTypeByName(type), bytes);
        } catch (InvalidProtocolBufferException e) {
            throw new AssertionError(e);
        }
    }

    // Calls.

    byte[] call(String method, CallOptions options, byte[] request) {
        return ClientCalls.blockingUnaryCall(calls, method(method), options, request);
    }

    DynamicMessage ask(String method, Object... fields) {
        byte[] request = message(method + "Request", fields).build().toByteArray();
        return parse(method + "Response", call(method, CallOptions.DEFAULT, request));
    }

    Status refused(String method, byte[] request) {
        return refused(method, CallOptions.DEFAULT, request);
    }

    Status refused(String method, CallOptions options, byte[] request) {
        return Assertions.assertThrows(StatusRuntimeException.class, () -> call(method, options, request))
                .getStatus();
    }

    Inference inference(String model) {
        return new Inference(model);
    }

    /** Builds an inference request. */
    final class Inference {
        private final DynamicMessage.Builder request;
        private CallOptions options = CallOptions.DEFAULT;

        private Inference(String model) {
            request = message("ModelInferRequest", "model_name", model);
        }

        private Inference add(String field, Object value) {
            request.addRepeatedField(request.getDescriptorForType().findFieldByName(field), value);
            return this;
        }

        Inference set(String field, Object value) {
            request.setField(request.getDescriptorForType().findFieldByName(field), value);
            return this;
        }

        Inference options(CallOptions chosen) {
            options = chosen;
            return this;
        }

        Inference raw(byte[] contents) {
            return add("raw_input_contents", ByteString.copyFrom(contents));
        }

        Inference input(String name, String datatype, List<Long> shape) {
            return add(
                    "inputs",
                    message("InferInputTensor", "name", name, "datatype", datatype, "shape", shape)
                            .build());
        }

        Inference typed(String name, String datatype, List<Long> shape, String field, List<?> contents) {
            return add(
                    "inputs",
                    message(
                                    "InferInputTensor",
                                    "name",
                                    name,
                                    "datatype",
                                    datatype,
                                    "shape",
                                    shape,
                                    "contents",
                                    message("InferTensorContents", field, contents)
                                            .build())
                            .build());
        }

        Inference output(String name) {
            return add(
                    "outputs",
                    message("InferRequestedOutputTensor", "name", name).build());
        }

        byte[] encoded() {
            return request.build().toByteArray();
        }

        Answer infer() {
            return new Answer(parse("ModelInferResponse", call("ModelInfer", options, encoded())));
        }

        Status refused() {
            return GrpcClient.this.refused("ModelInfer", options, encoded());
        }
    }

    /** A response. */
    record Answer(DynamicMessage message) {

        List<String> outputs() {
            List<String> described = new ArrayList<>();
            for (DynamicMessage output : GrpcClient.<DynamicMessage>all(message, "outputs")) {
                described.add("%s %s %s".formatted(get(output, "name"), get(output, "datatype"), get(output, "shape")));
            }
            return described;
        }

        byte[] raw(int index) {
            return GrpcClient.<ByteString>all(message, "raw_output_contents")
                    .get(index)
                    .toByteArray();
        }
    }
}
