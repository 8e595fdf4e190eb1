package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;

/** The sample, with open console and actuator, is reached from its own machine only. */
@SpringBootTest(
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {"spring.grpc.server.enabled=true", "spring.grpc.server.port=0"})
class LoopbackTests {
    @LocalServerPort
    private int port;

    @Autowired
    private GrpcServerLifecycle grpc;

    @Test
    void otherMachinesReachNeitherPort() throws IOException {
        for (int each : new int[] {port, grpc.getPort()}) {
            new Socket(InetAddress.ofLiteral("127.0.0.1"), each).close();
        }
        List<InetAddress> others = NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(each -> !each.isLoopbackAddress())
                .toList();
        assumeFalse(others.isEmpty(), "this machine has no address but loopback");
        for (InetAddress address : others) {
            for (int each : new int[] {port, grpc.getPort()}) {
                assertThatThrownBy(() -> new Socket(address, each).close())
                        .as("%s, port %d", address, each)
                        .isInstanceOf(ConnectException.class);
            }
        }
    }
}
