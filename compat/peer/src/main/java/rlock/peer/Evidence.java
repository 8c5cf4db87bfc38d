package rlock.peer;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Where the sections of one lock are recorded, as the command's "evidence" says. */
final class Evidence {
    private final EvidenceConnection connection;
    private final Fields options;

    Evidence(EvidenceConnection connection, Fields options) {
        this.connection = connection;
        this.options = options;
    }

    String required(String option) {
        return options.get(option).getAsString();
    }

    void record(Map<String, String> entry) throws IOException {
        List<String> parts = new ArrayList<>(List.of("XADD", required("stream"), "*"));
        entry.forEach((field, value) -> parts.addAll(List.of(field, value)));
        connection.send(parts.toArray(String[]::new));
    }
}

/**
 * A connection to the server that no fault reaches. Not Redisson's: that sends a command again when
 * its answer is late, be it because this process was stopped, and so would record things twice.
 */
final class EvidenceConnection {
    private final Socket socket;
    private final InputStream in;

    EvidenceConnection(String url) {
        URI uri = URI.create(url);
        try {
            socket = new Socket(uri.getHost(), uri.getPort());
            socket.setTcpNoDelay(true);
            in = new BufferedInputStream(socket.getInputStream());
        } catch (IOException failure) {
            throw new IllegalStateException("evidence server " + url + ": " + failure.getMessage(), failure);
        }
    }

    /** One at a time, so all threads' records come in the order they were handed off. */
    synchronized String send(String... command) throws IOException {
        try {
            ByteArrayOutputStream request = new ByteArrayOutputStream();
            request.writeBytes(utf8("*" + command.length + "\r\n"));
            for (String part : command) {
                byte[] bytes = utf8(part);
                request.writeBytes(utf8("$" + bytes.length + "\r\n"));
                request.writeBytes(bytes);
                request.writeBytes(utf8("\r\n"));
            }
            request.writeTo(socket.getOutputStream());
            return answer();
        } catch (IOException failure) {
            // What comes next could be the rest of this answer.
            socket.close();
            throw new IOException("evidence server: " + failure.getMessage(), failure);
        }
    }

    private String answer() throws IOException {
        String line = line();
        String rest = line.substring(1);
        return switch (line.charAt(0)) {
            case '+', ':' -> rest;
            case '$' -> rest.equals("-1") ? null : bulk(Integer.parseInt(rest));
            case '-' -> throw new IllegalStateException("evidence server: " + rest);
            default -> throw new IOException("cannot read " + line);
        };
    }

    private String bulk(int length) throws IOException {
        byte[] bytes = in.readNBytes(length);
        line();
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next == -1) {
                throw new IOException("connection closed");
            }
            if (next != '\r') {
                line.write(next);
            }
        }
        return line.toString(StandardCharsets.UTF_8);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
