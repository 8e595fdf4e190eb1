package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.WireFormat;
import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;

/** The sample's network over gRPC, off unless requested. */
@SpringBootTest(
        webEnvironment = WebEnvironment.NONE,
        properties = {"spring.grpc.server.enabled=true", "spring.grpc.server.port=0"})
@Timeout(300)
class DigitsOverGrpcTests {
    private static final Marshaller<byte[]> BYTES = new Marshaller<>() {
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

    @Test
    void readsAPicture(@Autowired GrpcServerLifecycle server) throws Exception {
        ManagedChannel channel = Grpc.newChannelBuilder(
                        "localhost:" + server.getPort(), InsecureChannelCredentials.create())
                .build();
        try {
            byte[] response = ClientCalls.blockingUnaryCall(
                    channel,
                    MethodDescriptor.newBuilder(BYTES, BYTES)
                            .setType(MethodType.UNARY)
                            .setFullMethodName("inference.GRPCInferenceService/ModelInfer")
                            .build(),
                    CallOptions.DEFAULT.withDeadlineAfter(1, TimeUnit.MINUTES),
                    request(new float[64]));
            FloatBuffer probabilities = rawOutput(response);
            assertThat(probabilities.remaining()).isEqualTo(10);
            float sum = 0;
            while (probabilities.hasRemaining()) {
                sum += probabilities.get();
            }
            assertThat(sum).isBetween(0.999f, 1.001f);
        } finally {
            channel.shutdownNow();
            assertThat(channel.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        }
    }

    /** {@code ModelInferRequest}: the name of the model, a tensor, and the contents. */
    private static byte[] request(float[] picture) throws IOException {
        ByteArrayOutputStream tensor = new ByteArrayOutputStream();
        CodedOutputStream fields = CodedOutputStream.newInstance(tensor);
        fields.writeString(1, "input0");
        fields.writeString(2, "FP32");
        fields.writeInt64(3, 1);
        fields.writeInt64(3, picture.length);
        fields.flush();
        ByteBuffer contents = ByteBuffer.allocate(picture.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        contents.asFloatBuffer().put(picture);
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        fields = CodedOutputStream.newInstance(request);
        fields.writeString(1, "digits");
        fields.writeByteArray(5, tensor.toByteArray());
        fields.writeByteArray(7, contents.array());
        fields.flush();
        return request.toByteArray();
    }

    /** The first of {@code raw_output_contents}. */
    private static FloatBuffer rawOutput(byte[] response) throws IOException {
        CodedInputStream fields = CodedInputStream.newInstance(response);
        for (int tag = fields.readTag(); tag != 0; tag = fields.readTag()) {
            if (WireFormat.getTagFieldNumber(tag) == 6) {
                return ByteBuffer.wrap(fields.readByteArray())
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .asFloatBuffer();
            }
            fields.skipField(tag);
        }
        throw new AssertionError("there are no raw contents");
    }

    /** As in {@code application.yaml}. */
    @SpringBootTest(webEnvironment = WebEnvironment.NONE)
    @Nested
    class UnlessAsked {
        @Test
        void noSocketIsOpened(@Autowired ObjectProvider<GrpcServerLifecycle> servers) {
            assertThat(servers.stream()).isEmpty();
        }
    }
}
