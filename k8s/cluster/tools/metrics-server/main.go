// Command metrics-server is the metrics server of Kubernetes with the few settings that a cluster of one node needs.
// The original command describes its API with packages of a newer Kubernetes. These packages would have to be compiled
// only for this command. This command uses the packages of the Kubernetes version that the test cluster builds in any
// case.
package main

import (
	"fmt"
	"log"
	"net"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/client-go/rest"
	definitions "k8s.io/kubernetes/pkg/generated/openapi"
	"sigs.k8s.io/metrics-server/pkg/api"
	"sigs.k8s.io/metrics-server/pkg/scraper/client"
	metrics "sigs.k8s.io/metrics-server/pkg/server"
)

const (
	port       = 10250
	resolution = 15 * time.Second // the minimum that the original metrics server recommends
	patience   = 10 * time.Second // timeout of a request to a kubelet
)

func main() {
	if err := run(server.SetupSignalHandler()); err != nil {
		log.Fatal("metrics-server: ", err)
	}
}

func run(stop <-chan struct{}) error {
	apiserver, err := listener()
	if err != nil {
		return err
	}
	// The CA certificate that every pod receives also verifies the certificate of the kubelet.
	cluster, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	cluster.ContentType = "application/vnd.kubernetes.protobuf"
	if err := rest.SetKubernetesDefaults(cluster); err != nil {
		return err
	}
	config := metrics.Config{
		Apiserver: apiserver,
		Rest:      cluster,
		Kubelet: &client.KubeletClientConfig{
			Scheme: "https", DefaultPort: port, AddressTypePriority: []corev1.NodeAddressType{corev1.NodeInternalIP},
			Client: *rest.CopyConfig(cluster),
		},
		MetricResolution: resolution,
		ScrapeTimeout:    patience,
	}
	s, err := config.Complete()
	if err != nil {
		return err
	}
	return s.RunUntil(stop)
}

// listener returns the configuration of the server for the API, with a self-signed certificate. The API server of the
// cluster authenticates and authorizes the clients.
func listener() (*server.Config, error) {
	config := server.NewConfig(api.Codecs)
	serving := options.NewSecureServingOptions().WithLoopback()
	serving.BindPort = port
	serving.ServerCert.CertDirectory = "/tmp"
	if err := serving.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{net.IPv4(127, 0, 0, 1)}); err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	if err := serving.ApplyTo(&config.SecureServing, &config.LoopbackClientConfig); err != nil {
		return nil, err
	}
	if err := options.NewDelegatingAuthenticationOptions().ApplyTo(&config.Authentication, config.SecureServing,
		nil); err != nil {
		return nil, err
	}
	if err := options.NewDelegatingAuthorizationOptions().ApplyTo(&config.Authorization); err != nil {
		return nil, err
	}
	namer := openapi.NewDefinitionNamer(api.Scheme)
	config.OpenAPIConfig = server.DefaultOpenAPIConfig(definitions.GetOpenAPIDefinitions, namer)
	config.OpenAPIV3Config = server.DefaultOpenAPIV3Config(definitions.GetOpenAPIDefinitions, namer)
	config.OpenAPIConfig.Info.Title, config.OpenAPIV3Config.Info.Title = "metrics-server", "metrics-server"
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	return config, nil
}
